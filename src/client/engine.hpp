// The operations of the public classes: takes them from any thread to the strand, and from there to whoever does the work.
#ifndef REDLOCK_CLIENT_ENGINE_HPP
#define REDLOCK_CLIENT_ENGINE_HPP

#include "acquire/acquisitions.hpp"
#include "acquire/adoptions.hpp"
#include "admission/admission_driver.hpp"
#include "base/context_service.hpp"
#include "base/mailbox.hpp"
#include "base/start_inline.hpp"
#include "client/environment.hpp"
#include "lease/lease_registry.hpp"
#include "lease/releases.hpp"
#include "redis/key_format.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/lease.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// What an engine is made with, besides its nodes.
struct engine_settings {
    std::size_t max_node_queue{8'192};
    std::function<lock_value()> fresh_value;   // for every attempt
    std::function<std::string()> fresh_mark;   // for admissions: letters and digits; empty: the same
    std::uint32_t jitter_seed{1};

    // Tokens and admission.
    std::function<std::uint64_t()> wall_clock;  // of this machine, in microseconds
    duration max_ttl{std::chrono::seconds{30}};
    duration token_retention{std::chrono::hours{1}};
    double clock_drift{0.01};  // between the clocks of clients, and of nodes
    bool bootstrap{false};
    std::shared_ptr<quarantine_log> quarantines{};  // may be null

    key_format keys{};

    // Has the caller of an operation start it himself, if that is possible (base/start_inline.hpp). Empty: it never is.
    run_here_function run_here;

    // A single thread runs this context, which is the client's. May be null.
    asio::io_context* single{nullptr};

    std::shared_ptr<redlock::observer> observer{};  // may be null
    outage_log::sink log{};                         // may be empty; not used with an observer
};

class engine : public core, public node_listener, public shutdown_hook, public std::enable_shared_from_this<engine> {
public:
    using strand_type = fanout::strand_type;

    // Releases that are under way when the client is cancelled still go out, and admissions go on, for so long.
    static constexpr duration linger_max = std::chrono::milliseconds{500};

    engine(asio::any_io_executor outer, strand_type strand, std::vector<std::unique_ptr<node>> nodes, engine_settings settings,
           fanout::clock_function clock);
    ~engine() override = default;

    asio::any_io_executor const& get_executor() const noexcept override { return outer_; }
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
    std::string detach(std::shared_ptr<lease_state> of) override;
    std::string_view name_of(lease_state const& of) const noexcept override { return static_cast<lease_handle const&>(of).of.what->text(); }
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

    void context_destroyed() noexcept override;

protected:
    enum class life { idle, running, lingering, stopping, stopped };

    virtual void start_watchdog() = 0;
    virtual void stop_watchdog() = 0;
    virtual void destroy_watchdog() noexcept = 0;

    strand_type& strand() noexcept { return *strand_; }
    environment& env() noexcept { return env_; }

private:
    template <class F>
    void on_strand(F f, std::optional<time_point> known = {});
    void send_for_mail();
    template <class MakeCancel>
    std::shared_ptr<waiter> wait_with(plain_handler&& handler, MakeCancel make_cancel);

    void start();
    void stop();
    void stop_nodes_when_quiet();
    void stop_nodes();
    void on_step(std::size_t node, quorum::clock_step step, time_point now);
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

    asio::any_io_executor outer_;
    std::optional<strand_type> strand_;
    std::optional<strand_type> posting_;  // the same; never runs anything at once
    run_here_function run_here_;
    asio::io_context* single_;  // engine_settings::single
    mailbox mail_;
    environment env_;
    releases releases_{env_};
    lease_registry leases_{env_, releases_};
    acquisitions acquisitions_{env_, leases_, releases_};
    adoptions adoptions_{env_, leases_, releases_, acquisitions_.locks()};
    std::optional<admission_driver> admissions_;
    std::chrono::milliseconds max_ttl_;
    key_format const keys_;
    linger linger_{*this};
    repetition repetition_{*this};
    life life_{life::idle};
    std::size_t nodes_running_{0};
    waiter_list runners_;
    std::atomic<bool> closed_{false};  // the context is gone, nothing can be posted any more

    std::mutex terms_mutex_;
    std::shared_ptr<resolved_options const> last_options_;  // most locks of a client have the same

    mutable std::mutex status_mutex_;
    std::vector<node_status> node_status_;
    std::vector<admission_picture> admission_pictures_;
    std::vector<node_clock> clock_pictures_;
    std::vector<std::string> servers_;  // that the nodes are connected to; empty: none, or unknown
};

}  // namespace redlock::detail

#endif
