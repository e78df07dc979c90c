// Whoever wants to know what a client does, while it does it.
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

/// One function for each kind of event (redlock/event.hpp says what they mean). Override those that you want to know of.
///
///     auto const watcher = std::make_shared<my_observer>();
///     redlock::client nodes{io.get_executor(), config, watcher};
///
/// Executor: events are kept in a queue and told on `executor()`, in the order in which they happened, never from inside the client's own
/// work. What an observer does costs that executor's time: if it may block, let it have an executor of its own.
/// Exceptions: leave the executor's `run()`, as those of any handler do. The event that was being told is over, the next ones are told later.
/// Lifetimes: the client keeps its observer until the last event has been told. When the client is gone, what still goes on is told (releases,
/// which take up to half a second); when the context of `executor()` is destroyed, nothing more is. An executor of its own must outlive the
/// client's context.
/// Thread safety: one client makes one call at a time. An observer of several clients may be called by each of them at the same time.
class REDLOCK_API observer {
public:
    virtual ~observer() = default;

    /// Where events are told; empty: on the executor that the client was made with. Asked once, by the client's constructor.
    virtual asio::any_io_executor executor() const { return {}; }

    /// How many events are kept for an observer that is not told them in time. Further ones are dropped, and counted (`event::dropped`,
    /// `client_counters::events_dropped`). An event takes about 200 bytes. Asked once, by the client's constructor.
    virtual std::size_t queue_max() const { return 65'536; }

    // Locks.
    virtual void on_acquired(event::acquired const&) {}
    virtual void on_contended(event::contended const&) {}
    virtual void on_attempt_failed(event::attempt_failed const&) {}
    virtual void on_not_acquired(event::not_acquired const&) {}
    virtual void on_self_wait(event::self_wait const&) {}
    virtual void on_extended(event::extended const&) {}
    virtual void on_extension_failed(event::extension_failed const&) {}
    virtual void on_lost(event::lost const&) {}
    virtual void on_released(event::released const&) {}
    virtual void on_handed_over(event::handed_over const&) {}
    virtual void on_overrun(event::overrun const&) {}
    virtual void on_watchdog_late(event::watchdog_late const&) {}
    virtual void on_late_grant_undone(event::late_grant_undone const&) {}

    // Nodes.
    virtual void on_node_up(event::node_up const&) {}
    virtual void on_node_down(event::node_down const&) {}
    virtual void on_node_excluded(event::node_excluded const&) {}
    virtual void on_node_admitted(event::node_admitted const&) {}
    virtual void on_clock_stepped(event::clock_stepped const&) {}

    // The observer itself.
    virtual void on_dropped(event::dropped const&) {}

protected:
    observer() = default;
    observer(observer const&) = default;  ///< For classes that can be copied.
    observer& operator=(observer const&) = default;  ///< The same.
};

/// Several observers as one: each event is told to all of them, in this order, on one executor; their own `executor()` and `queue_max()`
/// are not asked. An exception keeps the event from those that come behind.
class REDLOCK_API observers final : public observer {
public:
    /// Precondition: none of them is null.
    explicit observers(std::vector<std::shared_ptr<observer>> all, asio::any_io_executor executor = {});

    /// The one that the constructor was given.
    asio::any_io_executor executor() const override { return executor_; }

    void on_acquired(event::acquired const&) override;
    void on_contended(event::contended const&) override;
    void on_attempt_failed(event::attempt_failed const&) override;
    void on_not_acquired(event::not_acquired const&) override;
    void on_self_wait(event::self_wait const&) override;
    void on_extended(event::extended const&) override;
    void on_extension_failed(event::extension_failed const&) override;
    void on_lost(event::lost const&) override;
    void on_released(event::released const&) override;
    void on_handed_over(event::handed_over const&) override;
    void on_overrun(event::overrun const&) override;
    void on_watchdog_late(event::watchdog_late const&) override;
    void on_late_grant_undone(event::late_grant_undone const&) override;
    void on_node_up(event::node_up const&) override;
    void on_node_down(event::node_down const&) override;
    void on_node_excluded(event::node_excluded const&) override;
    void on_node_admitted(event::node_admitted const&) override;
    void on_clock_stepped(event::clock_stepped const&) override;
    void on_dropped(event::dropped const&) override;

private:
    std::vector<std::shared_ptr<observer>> all_;
    asio::any_io_executor executor_;
};

}  // namespace redlock

#endif
