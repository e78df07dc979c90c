// The life of a client (run, cancel, drain, stop), its operations (lease_operations.cpp), and what its nodes report.
#ifndef REDLOCK_CLIENT_ENGINE_HPP
#define REDLOCK_CLIENT_ENGINE_HPP

#include "base/context_service.hpp"
#include "client/status_board.hpp"
#include "client/strand_entrance.hpp"
#include "core/acquire/acquisitions.hpp"
#include "core/acquire/adoptions.hpp"
#include "core/acquire/peeks.hpp"
#include "core/admission/admission_driver.hpp"
#include "core/kinds/kinds.hpp"
#include "core/kinds/permit_queries.hpp"
#include "core/lease/lease_registry.hpp"
#include "core/lease/publications.hpp"
#include "core/lease/releases.hpp"
#include "core/pauses.hpp"
#include "protocol/key_format.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/lease.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

// What an engine is made with, besides its nodes.
struct engine_settings {
    std::size_t max_node_queue{8'192};
    std::function<lock_value()> fresh_value;   // for every attempt
    std::function<std::string()> fresh_mark;   // for admissions: letters and digits; empty: fresh_value makes the marks
    std::uint32_t jitter_seed{1};

    // Tokens and admission.
    std::function<std::uint64_t()> wall_clock;  // of this machine, in microseconds
    duration max_ttl{std::chrono::seconds{30}};
    duration token_retention{std::chrono::hours{1}};
    double clock_drift{0.01};  // between the clocks of clients, and of nodes
    bool bootstrap{false};
    bool trust_uptime{true};
    bool recovers{true};
    std::shared_ptr<quarantine_log> quarantines{};  // may be null
    quorum::set_settings sets{};  // without names of members nobody looks at sets

    key_format keys{};

    // Has the caller of an operation start it himself, if that is possible (base/start_inline.hpp). Empty: it never is.
    run_here_function run_here;

    // A single thread runs this context, which is the client's. May be null.
    asio::io_context* single{nullptr};

    std::shared_ptr<redlock::observer> observer{};  // may be null
    outage_log::sink log{};                         // may be empty; not used with an observer
};

class engine : public lease_core, public node_listener, public shutdown_hook, public strand_entrance {
public:
    using strand_entrance::strand_type;

    // Releases that are under way when the client is cancelled still go out, and admissions go on, for so long.
    static constexpr duration max_linger = std::chrono::milliseconds{500};

    engine(asio::any_io_executor outer, strand_type strand, std::vector<std::unique_ptr<node>> nodes, engine_settings settings,
           fanout::clock_function clock);
    ~engine() override = default;

    asio::any_io_executor const& get_executor() const noexcept override { return outer(); }
    time_point now() const noexcept override { return env_.now(); }
    std::chrono::milliseconds max_ttl() const noexcept override { return max_ttl_; }
    key_format const& keys() const noexcept override { return keys_; }
    std::shared_ptr<resolved_options const> resolved_options_of(lock_options const& options) override;

    void run(plain_handler&& handler) override;
    void cancel() noexcept override;
    void drain(plain_handler&& handler) override;
    client_status status() const override;
    void begin_admission() override;

    void acquire(acquire_request&& request, lease_handler&& handler) override;
    void adopt(adopt_request&& request, lease_handler&& handler) override;
    void extend(std::shared_ptr<lease_state>&& of, plain_handler&& handler) override;
    void downgrade(std::shared_ptr<lease_state>&& of, plain_handler&& handler) override;
    void release(std::shared_ptr<lease_state>&& of, plain_handler&& handler) override;
    void wait_lost(std::shared_ptr<lease_state>&& of, plain_handler&& handler) override;
    void publish(std::shared_ptr<lease_state>&& of, std::string&& bytes, plain_handler&& handler) override;
    void inherited(std::shared_ptr<lease_state>&& of, state_handler&& handler) override;
    void peek(peek_request&& request, peek_handler&& handler) override;
    void pause(duration min, duration max, plain_handler&& handler) override;
    std::string detach(std::shared_ptr<lease_state> of) override;
    std::string_view name_of(lease_state const& of) const noexcept override
    {
        return static_cast<lease_handle const&>(of).of().what->text();
    }
    lock_descriptor_ptr descriptor_of(lease_state const& of) const noexcept override
    {
        return static_cast<lease_handle const&>(of).of().what;
    }
    std::string loss_reason_of(lease_state const& of) const override;
    std::span<std::uint32_t const> slots_of(lease_state const& of) const noexcept override
    {
        return static_cast<lease_handle const&>(of).of().what->slots();
    }
    void ask_permits(permit_query&& what, permits_handler&& handler) override;
    void let_go(std::shared_ptr<lease_state> of) noexcept override;
    void scope_ended(lease_state const& of) noexcept override;

    // For simulations: those who hold a lock on that name learn at once what has become of it.
    void extend_all_on(std::string name);
    quorum::token_number token_on(std::string_view name) const noexcept { return leases_.token_on(name); }  // on the strand

    void on_up(std::size_t node, std::string const& server, quorum::node_facts const& facts) override;
    void on_down(std::size_t node, error_code why, std::string const& text) override;
    void on_stopped(std::size_t node) override;
    void on_changed(std::size_t node, std::string_view key) override;
    void on_time(std::size_t node, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override;

    void on_primary(std::size_t node, std::string const& server) override { board_.primary(node, server); }
    void on_several_servers(std::size_t node, std::string const& words) override;
    bool on_unfit(std::size_t node, error_code why, std::string const& words) override;
    void on_login(std::size_t node, std::string const& why_not) override { board_.login(node, why_not); }

    void context_destroyed() noexcept override;

protected:
    enum class life { idle, running, lingering, stopping, stopped };

    virtual void start_watchdog() = 0;
    virtual void stop_watchdog() = 0;
    virtual void destroy_watchdog() noexcept = 0;

    std::shared_ptr<engine> self() { return std::static_pointer_cast<engine>(shared_from_this()); }
    using strand_entrance::env;
    using strand_entrance::strand;

private:
    std::shared_ptr<waiter> wait_for_extension(std::shared_ptr<lease_handle> const& whose, plain_handler&& handler);

    // What keeps operations whose callers wait.
    template <class F>
    void for_all_that_wait(F f)
    {
        f(acquisitions_);
        f(adoptions_);
        f(publications_);
        f(peeks_);
        f(pauses_);
        f(permit_queries_);
    }

    void start();
    void stop();
    void tell_of_nodes_never_reached(time_point now);
    void stop_nodes_when_quiet();
    void stop_nodes();
    void tell_of_down(std::size_t node, error_code why, std::string const& text, std::function<void()> const& leave);
    void turn_away(std::size_t node, error_code why, std::string const& words);
    void on_step(std::size_t node, quorum::clock_step step, time_point now);
    void allow_for(double clock_drift);
    void detach_handle(std::shared_ptr<lease_handle> const& who);
    void release_handle(std::shared_ptr<lease_handle> const& who, time_point t);

    struct linger final : timer {
        explicit linger(engine& of) : owner{of} {}
        void on_timer(time_point) override { owner.stop_nodes(); }
        engine& owner;
    };

    struct repetition final : timer {
        explicit repetition(engine& of) : owner{of} {}
        void on_timer(time_point now) override { owner.env_.to_nodes->retry_releases(now); }
        engine& owner;
    };

    struct parting final : timer {
        explicit parting(engine& of) : owner{of} {}
        void on_timer(time_point now) override { owner.env_.to_nodes->end_partings(now); }
        engine& owner;
    };

    struct first_contact final : timer {
        explicit first_contact(engine& of) : owner{of} {}
        ~first_contact() { owner.env_.cancel_timer(*this); }
        void on_timer(time_point now) override { owner.tell_of_nodes_never_reached(now); }
        engine& owner;
    };

    releases releases_{env_};
    lease_registry leases_{env_, releases_};
    acquisitions acquisitions_{env_, leases_, releases_, all_kinds()};
    adoptions adoptions_{env_, leases_, releases_, acquisitions_.locks()};
    publications publications_{env_, leases_};
    peeks peeks_{env_};
    pauses pauses_{env_};
    permit_queries permit_queries_{env_};
    std::optional<admission_driver> admissions_;
    std::chrono::milliseconds max_ttl_;
    double clock_drift_;  // the largest that is allowed for
    key_format const keys_;
    linger linger_{*this};
    repetition repetition_{*this};
    parting parting_{*this};
    first_contact first_contact_{*this};
    life life_{life::idle};
    std::size_t nodes_running_{0};
    waiter_list runners_;
    std::atomic<bool> closed_{false};  // the context is gone, nothing can be posted any more

    std::mutex terms_mutex_;
    std::shared_ptr<resolved_options const> last_options_;  // most locks of a client have the same

    status_board board_;
};

}  // namespace redlock::detail

#endif
