// Observers receive events about what a client does.
#ifndef REDLOCK_OBSERVER_HPP
#define REDLOCK_OBSERVER_HPP

#include <redlock/detail/export.hpp>
#include <redlock/event.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace redlock {

namespace asio = boost::asio;

/// Override the functions for the events that you need (redlock/event.hpp), or `on`, which receives all of them.
///
///     auto const watcher = std::make_shared<my_observer>();
///     redlock::client nodes{io.get_executor(), config, watcher};
///
/// To pass events on to another observer, call its `on`.
///
/// Executor: events are queued and delivered on `executor()`, in the order in which they happened, never from inside the client's own work.
/// An observer that may block needs an executor of its own.
/// Exceptions: leave the executor's `run()`, as those of any handler. That event is over; the next ones are delivered later.
/// Lifetimes: the client keeps its observer until the last event has been delivered. Events after the destruction of the client (releases,
/// for up to half a second) are delivered too, unless the context of `executor()` is destroyed. An executor of its own must outlive the
/// client's context.
/// Thread safety: one client makes one call at a time. Several clients with the same observer may call it at the same time.
class REDLOCK_API observer {
public:
    virtual ~observer() = default;

    /// Where events are delivered; empty: on the client's executor. Called once, by the client's constructor.
    virtual asio::any_io_executor executor() const { return {}; }

    /// How many events are queued at most. Further ones are dropped and counted (`event::dropped`, `client_counters::events_dropped`). An
    /// event takes about 200 bytes. Called once, by the client's constructor.
    virtual std::size_t max_queued_events() const { return 65'536; }

    /// Called for each event. By default it calls the function below with the event's name.
    virtual void on(event::any const& what);

protected:
    // Locks.
    virtual void on_acquired(event::acquired const&) {}
    virtual void on_contended(event::contended const&) {}
    virtual void on_attempt_failed(event::attempt_failed const&) {}
    virtual void on_not_acquired(event::not_acquired const&) {}
    virtual void on_self_deadlock(event::self_deadlock const&) {}
    virtual void on_extended(event::extended const&) {}
    virtual void on_extension_failed(event::extension_failed const&) {}
    virtual void on_lost(event::lost const&) {}
    virtual void on_released(event::released const&) {}
    virtual void on_handoff(event::handoff const&) {}
    virtual void on_detached(event::detached const&) {}
    virtual void on_overrun(event::overrun const&) {}
    virtual void on_watchdog_late(event::watchdog_late const&) {}
    virtual void on_late_grant_undone(event::late_grant_undone const&) {}

    // Nodes.
    virtual void on_node_up(event::node_up const&) {}
    virtual void on_node_down(event::node_down const&) {}
    virtual void on_node_excluded(event::node_excluded const&) {}
    virtual void on_node_admitted(event::node_admitted const&) {}
    virtual void on_node_recovered(event::node_recovered const&) {}
    virtual void on_clock_stepped(event::clock_stepped const&) {}

    // The observer itself.
    virtual void on_dropped(event::dropped const&) {}

    observer() = default;
    observer(observer const&) = default;  ///< For classes that can be copied.
    observer& operator=(observer const&) = default;  ///< The same.

private:
    void call(event::acquired const& e) { on_acquired(e); }
    void call(event::contended const& e) { on_contended(e); }
    void call(event::attempt_failed const& e) { on_attempt_failed(e); }
    void call(event::not_acquired const& e) { on_not_acquired(e); }
    void call(event::self_deadlock const& e) { on_self_deadlock(e); }
    void call(event::extended const& e) { on_extended(e); }
    void call(event::extension_failed const& e) { on_extension_failed(e); }
    void call(event::lost const& e) { on_lost(e); }
    void call(event::released const& e) { on_released(e); }
    void call(event::handoff const& e) { on_handoff(e); }
    void call(event::detached const& e) { on_detached(e); }
    void call(event::overrun const& e) { on_overrun(e); }
    void call(event::watchdog_late const& e) { on_watchdog_late(e); }
    void call(event::late_grant_undone const& e) { on_late_grant_undone(e); }
    void call(event::node_up const& e) { on_node_up(e); }
    void call(event::node_down const& e) { on_node_down(e); }
    void call(event::node_excluded const& e) { on_node_excluded(e); }
    void call(event::node_admitted const& e) { on_node_admitted(e); }
    void call(event::node_recovered const& e) { on_node_recovered(e); }
    void call(event::clock_stepped const& e) { on_clock_stepped(e); }
    void call(event::dropped const& e) { on_dropped(e); }
};

/// Several observers as one: each event goes to all of them, in this order, on one executor. Their own `executor()` and
/// `max_queued_events()` are not called. If one throws, those after it miss the event.
class REDLOCK_API observers final : public observer {
public:
    /// Precondition: none of them is null.
    explicit observers(std::vector<std::shared_ptr<observer>> all, asio::any_io_executor executor = {});

    /// The executor given to the constructor.
    asio::any_io_executor executor() const override { return executor_; }

    void on(event::any const& what) override;

private:
    std::vector<std::shared_ptr<observer>> all_;
    asio::any_io_executor executor_;
};

}  // namespace redlock

#endif
