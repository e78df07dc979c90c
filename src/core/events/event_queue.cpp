#include "core/events/event_queue.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <span>
#include <utility>

namespace redlock::detail {

namespace {

// The memory of more events than this is freed when they are told, so that a burst does not keep it for ever.
constexpr std::size_t max_spare = 1'024;

}  // namespace

event_queue::event_queue(std::shared_ptr<observer> to, asio::any_io_executor const& fallback, std::vector<std::string> nodes,
                         counter& dropped)
    : observer_{std::move(to)},
      nodes_{std::move(nodes)},
      max_{observer_->max_queued_events()},
      count_dropped_{dropped},
      executor_{observer_->executor()}
{
    if (!executor_) executor_ = fallback;
    is_elsewhere_ = &executor_.context() != &fallback.context();
}

void event_queue::add(kept_event e)
{
    std::lock_guard const guard{mutex_};
    if (closed_) return;
    if (kept_.load(std::memory_order_relaxed) >= max_) {
        ++dropped_;
        ++count_dropped_;
    } else {
        waiting_.push_back(std::move(e));
        kept_.fetch_add(1, std::memory_order_relaxed);
    }
    if (posted_) return;
    asio::post(executor_, [self = shared_from_this()] { self->tell_all(); });
    posted_ = true;
}

void event_queue::close() noexcept
{
    std::unique_lock guard{mutex_};
    closed_ = true;
    auto const executor = std::exchange(executor_, {});
    if (is_elsewhere_) return;
    // No handler runs any more in the client's context. The observer may own a strand of that context, which must not outlive it; or the client,
    // which owns this queue. So let go of the observer.
    auto const gone = std::exchange(observer_, nullptr);
    auto const events = std::exchange(waiting_, {});
    guard.unlock();
}

// Tells one batch, and posts a handler for the next. A closed queue has no executor to post to, so the loop here goes on with the rest.
// If the observer throws, the exception leaves this handler and a posted one tells the rest; a closed queue drops the rest.
void event_queue::tell_all()
{
    auto const post_rest = [this] {  // true: events are left, and no handler can be posted for them
        std::lock_guard const guard{mutex_};
        posted_ = next_ < telling_.size() || dropped_after_batch_ > 0 || !waiting_.empty() || dropped_ > 0;
        if (posted_ && executor_) asio::post(executor_, [self = shared_from_this()] { self->tell_all(); });
        return posted_ && !executor_;
    };
    do {
        try {
            tell_batch();
        } catch (...) {
            post_rest();
            throw;
        }
    } while (post_rest());
}

void event_queue::tell_batch()
{
    if (next_ == telling_.size() && dropped_after_batch_ == 0) {
        telling_.clear();
        next_ = 0;
        if (telling_.capacity() > max_spare) telling_ = {};
        std::lock_guard const guard{mutex_};
        telling_.swap(waiting_);
        dropped_after_batch_ = std::exchange(dropped_, 0);
    }
    while (next_ < telling_.size()) {
        kept_.fetch_sub(1, std::memory_order_relaxed);
        tell(telling_[next_++]);
    }
    if (auto const n = std::exchange(dropped_after_batch_, 0); n > 0)
        observer_->on(
            event::dropped{.at = std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now()), .events = n});
}

void event_queue::tell(kept_event& kept)
{
    std::array<event::node_vote, max_nodes> votes;
    for (std::size_t i = 0; i < kept.votes_count; ++i) votes[i] = {nodes_[i], kept.votes[i]};
    auto const complete = [&](auto& e) {
        if constexpr (requires { e.lock; }) e.lock = kept.lock->text();
        if constexpr (requires { e.node; }) e.node = nodes_[kept.node];
        if constexpr (requires { e.text; }) e.text = kept.text;
        if constexpr (requires { e.votes; }) e.votes = std::span<event::node_vote const>{votes.data(), kept.votes_count};
    };
    std::visit(complete, kept.what);
    observer_->on(kept.what);
}

}  // namespace redlock::detail
