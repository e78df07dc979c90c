// Events on their way to an observer. The core adds them; a handler on the observer's executor tells them, one at a time and in order.
//
// May be used from any thread. The handler owns the queue, and the queue owns the observer.
#ifndef REDLOCK_CORE_EVENTS_EVENT_QUEUE_HPP
#define REDLOCK_CORE_EVENTS_EVENT_QUEUE_HPP

#include "core/events/counters.hpp"

#include <redlock/config.hpp>
#include <redlock/detail/resource.hpp>
#include <redlock/observer.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace redlock::detail {

// An event, and the text and votes that its views refer to when it is told.
struct kept_event {
    event::any what;
    resource_ptr lock{};
    std::size_t node{0};
    std::string text{};
    std::array<vote, max_nodes> votes{};
    std::uint8_t votes_count{0};
};

class event_queue : public std::enable_shared_from_this<event_queue> {
public:
    // `fallback`: for an observer that names no executor. `dropped` must live until close(), or until nothing is added any more.
    event_queue(std::shared_ptr<observer> to, asio::any_io_executor const& fallback, std::vector<std::string> nodes, counter& dropped);

    void add(kept_event e);

    // The client's context is being destroyed. An observer in another context is still told what has happened; its executor is not used any
    // more, as that context may be next.
    void close() noexcept;

private:
    void tell_all();
    void tell_batch();
    void tell(kept_event& e);

    std::shared_ptr<observer> observer_;
    std::vector<std::string> const nodes_;
    std::size_t const max_;
    counter& count_dropped_;
    std::atomic<std::size_t> kept_{0};

    std::mutex mutex_;  // guards the members up to closed_
    asio::any_io_executor executor_;  // none once the queue is closed
    bool is_elsewhere_;  // not in the client's context
    std::vector<kept_event> waiting_;
    std::uint64_t dropped_{0};  // events that found the queue full; they came after those in waiting_
    bool posted_{false};  // a handler is under way; there is one at the most
    bool closed_{false};

    // Only the handler uses these: its batch of events, the next of them, and how many events were dropped after the batch.
    std::vector<kept_event> telling_;
    std::size_t next_{0};
    std::uint64_t dropped_after_batch_{0};
};

}  // namespace redlock::detail

#endif
