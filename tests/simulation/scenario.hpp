// A scripted world, for telling one story: servers A, B, C..., clients 1, 2, 3..., each on a machine of its own, and a network that
// takes 100 us each way. Nothing is left to chance but the order of handlers that are ready together. What goes wrong, and when,
// the test says. All times are those of the world, from the moment at which everybody is connected.
#ifndef REDLOCK_TESTS_SIMULATION_SCENARIO_HPP
#define REDLOCK_TESTS_SIMULATION_SCENARIO_HPP

#include "judge.hpp"
#include "link.hpp"
#include "universe.hpp"

#include "support/printing.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

namespace redlock::simulation {

enum server_name : std::size_t { A, B, C, D, E };

// The time of a message between a client and a server, in either direction.
constexpr duration one_way = 100us;

// The options of most locks here. From the moment that the requests are sent, a lease is valid for 9 s less drift (90 ms) and
// granularity (2 ms): 8.908 s. It is extended after 3 s, and lost 900 ms before its end. A node may take 450 ms to answer.
constexpr lock_options usual{.ttl = 9s};
constexpr duration validity = 8'908ms;

// The same for somebody who waits: tries again at least every 100 ms.
constexpr lock_options patient{.ttl = 9s, .max_retry_delay = 100ms};

// Without tokens, as on the Redlock page: servers that forget have a vote.
constexpr lock_options plain{.ttl = 9s, .fencing = false};

class actor;

// An operation on a lease, once it is done: how it ended, and when.
struct ended {
    bool done{false};
    error_code ec;
    duration at{};
};

// A call of acquire() or try_acquire().
struct acquisition : ended {
    explicit acquisition(actor& caller) : by{caller} {}

    bool valid() const;           // as its holder would find it now
    duration valid_until() const;

    actor& by;
    lease held;
    attempt_report report;
    asio::cancellation_signal gives_up;
};

// A call of with_lock().
struct scope : ended {
    explicit scope(actor& caller) : by{caller} {}

    actor& by;
    std::optional<duration> entered;
    std::optional<duration> body_over;
    lease const* held{nullptr};   // while the body runs
    duration valid_until{};       // of the lease, when the body was over
};

// A client, and the program that uses it. All its locks have the same name.
class actor {
public:
    actor(universe& in, duration start, std::size_t number);

    acquisition& try_acquire(lock_options const& options = usual);
    acquisition& acquire(lock_options const& options = patient);
    ended& extend(acquisition& of);
    ended& release(acquisition& of);
    ended& wait_lost(acquisition& of);
    void cancel(acquisition& what, asio::cancellation_type_t type);
    scope& with_lock(std::function<asio::awaitable<void>(lease&)> body, lock_options const& options = usual);

    // SIGSTOP, or a garbage collector: time passes, nothing runs. Or the whole machine sleeps.
    void pause(duration d) { world_.pause(*process_, d); }
    void suspend(duration d) { world_.suspend(*process_, d); }
    void kill();
    bool is_dead() const noexcept { return process_ == nullptr; }

    // The connection to a server ends, and none can be made until it is plugged in again.
    void unplug(std::initializer_list<server_name> servers);
    void plug_in(std::initializer_list<server_name> servers);
    link& to(server_name s) { return world_.between(*process_, *world_.servers()[s]); }

    // The client gives up a connection that is silent. The oldest request on it stays in the network, which delivers it at `late`.
    void gives_up(server_name s, duration late);

    // As it would find it now.
    bool is_valid(lease const& held) const;

    client_status status() const { return client_->status(); }
    client_counters counters() const { return status().counters; }

    std::string const prefix;  // of its values

private:
    friend class scenario;
    friend struct acquisition;

    duration now() const noexcept { return world_.now() - start_; }
    duration in_the_world(time_point t) const { return process_->clock.when(t) - start_; }
    acquisition& start(bool once, lock_options const& options);
    std::size_t valid_leases() const;
    void end(ended& what, error_code ec) const;
    template <class F>
    void visit(F f) const
    {
        process_->visit(world_.now(), f);
    }

    universe& world_;
    duration start_;
    process* process_;
    std::shared_ptr<client> client_;
    bool stopped_{false};
    std::deque<acquisition> acquisitions_;
    std::deque<scope> scopes_;
    std::deque<ended> ended_;
};

class scenario {
public:
    explicit scenario(std::size_t servers = 3, std::size_t clients = 2, std::uint64_t seed = 1);
    ~scenario();
    scenario(scenario const&) = delete;
    scenario& operator=(scenario const&) = delete;

    duration now() const noexcept { return world.now() - start; }
    void run_to(duration t);
    void advance(duration d) { world.advance(d); }

    actor& client(std::size_t number) { return actors_[number - 1]; }
    server& at(server_name s) { return *world.servers()[s]; }

    // Whose key is on A, B, C...: the client's number, '.' for nobody. "11." is client 1 on A and B.
    std::string keys();
    std::string value_on(server_name s);
    std::optional<duration> expires_on(server_name s);  // the first moment without the key

    // The most leases that were valid at the same moment, looked at after every step.
    std::size_t max_holders{0};
    // More than one only where a story is about it.
    std::size_t holders_allowed{1};

    // How many messages a client sends in this time.
    std::size_t messages_of(actor const& who, duration within);

    // After each story: everybody leaves, and nothing may be left behind.
    void teardown();

    static constexpr duration start = 1s;
    universe world;

private:
    std::deque<actor> make_actors(std::size_t servers, std::size_t clients);

    judge rules_;
    std::deque<actor> actors_;

public:
    actor& one;
    actor& two;
};

// What BOOST_FIXTURE_TEST_CASE wants.
struct three_servers : scenario {
    three_servers() : scenario{3} {}
};
struct five_servers : scenario {
    five_servers() : scenario{5} {}
};

}  // namespace redlock::simulation

#endif
