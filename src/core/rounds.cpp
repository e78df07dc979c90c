#include "core/rounds.hpp"

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

namespace {

reply failure(errc why) { return reply{vote::failed, why, {}}; }

// Releases that are owed to a node that is down: a bound, reached only when a node stays away while locks churn.
constexpr std::size_t owed_max = 65'536;

}  // namespace

rounds::rounds(strand_type strand, std::vector<std::unique_ptr<node>> nodes, std::size_t queue_max, clock_function now)
    : strand_{std::move(strand)}, now_{now}, queue_max_{queue_max}
{
    assert(!nodes.empty());
    links_.resize(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) links_[i].peer = std::move(nodes[i]);
}

void rounds::add(ticket request)
{
    outgoing_.push_back(std::move(request));
    if (std::exchange(flush_posted_, true)) return;
    // Behind everything that is ready to run now: those operations get into the same round.
    asio::post(strand_, [self = shared_from_this()] { self->flush(); });
}

void rounds::start(std::weak_ptr<node_listener> const& listener)
{
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].peer->start(i, listener);
}

void rounds::stop()
{
    for (link& l : links_) l.peer->stop();
}

bool rounds::in_step(link const& l) const noexcept
{
    return l.state == link_state::up && l.queue.empty() && l.in_flight < in_flight_max;
}

void rounds::flush()
{
    flush_posted_ = false;
    if (outgoing_.empty()) return;
    auto const now = now_();
    auto const r = std::make_shared<round>();
    r->tickets = std::exchange(outgoing_, {});
    r->work.commands.reserve(r->tickets.size());
    for (ticket const& t : r->tickets) r->work.commands.push_back(t.request);
    r->replies.resize(links_.size());

    std::vector<std::size_t> direct;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (in_step(links_[i])) direct.push_back(i);
    if (!direct.empty()) launch(r, direct);
    for (std::size_t i = 0; i < links_.size(); ++i) {
        if (std::find(direct.begin(), direct.end(), i) != direct.end()) continue;
        for (ticket const& t : r->tickets) enqueue(i, t, now);
    }
}

// Starts one node's part of a round, in the form that parallel_group wants.
class rounds::start_exec {
public:
    using executor_type = strand_type;

    start_exec(std::shared_ptr<rounds> owner, std::shared_ptr<round> r, std::size_t node)
        : owner_{std::move(owner)}, round_{std::move(r)}, node_{node}
    {
    }

    executor_type get_executor() const noexcept { return owner_->strand_; }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        // No slot is passed on: a request to Redis is never cancelled.
        owner_->exec(round_, node_, exec_handler{std::forward<Handler>(handler)});
    }

private:
    std::shared_ptr<rounds> owner_;
    std::shared_ptr<round> round_;
    std::size_t node_;
};

void rounds::launch(std::shared_ptr<round> const& r, std::vector<std::size_t> const& to)
{
    auto part = [&](std::size_t i) {
        return asio::async_initiate<asio::deferred_t const&, void(error_code)>(start_exec{shared_from_this(), r, i}, asio::deferred);
    };
    std::vector<decltype(part(0))> parts;
    parts.reserve(to.size());
    for (std::size_t i : to) {
        for (ticket const& t : r->tickets) t.asked_by->on_sent(i);
        parts.push_back(part(i));
    }
    // Votes are filed as each node answers (see exec); the group's completion only retires the round.
    asio::experimental::make_parallel_group(std::move(parts))
        .async_wait(asio::experimental::wait_for_all(),
                    asio::bind_executor(strand_, [r](std::vector<std::size_t> const&, std::vector<error_code> const&) {}));
}

void rounds::exec(std::shared_ptr<round> const& r, std::size_t node, exec_handler then)
{
    link& l = links_[node];
    assert(l.state == link_state::up && l.in_flight < in_flight_max);
    ++l.in_flight;
    auto done = [self = shared_from_this(), r, node, then = std::move(then)](error_code ec) mutable {
        self->file(*r, node, ec);
        if (then) std::move(then)(ec);
    };
    l.peer->exec(r->work, r->replies[node], std::move(done));
}

void rounds::file(round& r, std::size_t node, error_code ec)
{
    if (links_.empty()) return;
    link& l = links_[node];
    assert(l.in_flight > 0);
    --l.in_flight;
    auto const now = now_();
    reply const lost = failure(errc::node_unreachable);
    for (std::size_t i = 0; i < r.tickets.size(); ++i) {
        ticket const& t = r.tickets[i];
        t.asked_by->on_vote(node, ec ? lost : r.replies[node][i], now);
        if (ec) owe(node, t, now);  // nobody knows whether it was executed; to delete twice what is ours does no harm
    }
    catch_up(node);
}

void rounds::enqueue(std::size_t node, ticket const& t, time_point now)
{
    link& l = links_[node];
    bool const is_release = t.request.what == verb::release;
    if (l.state == link_state::down) {
        t.asked_by->on_vote(node, failure(errc::node_unreachable), now);
        owe(node, t, now);
    } else if (is_release || l.queue.size() < queue_max_) {
        l.queue.push_back(t);
    } else {
        t.asked_by->on_vote(node, failure(errc::node_queue_full), now);
    }
}

// Keeps a release for when the node is back.
void rounds::owe(std::size_t node, ticket const& t, time_point now)
{
    link& l = links_[node];
    if (closed_ || t.request.what != verb::release || l.queue.size() >= owed_max) return;
    if (t.asked_by->wanted(node, now)) l.queue.push_back(t);
}

void rounds::catch_up(std::size_t node)
{
    link& l = links_[node];
    while (l.state == link_state::up && !l.queue.empty() && l.in_flight < in_flight_max) {
        auto const r = next_for(l, node, now_());
        if (r->tickets.empty()) continue;
        r->replies.resize(links_.size());
        for (ticket const& t : r->tickets) t.asked_by->on_sent(node);
        exec(r, node, {});
    }
}

// The next message to a node that has fallen behind: what waited too long to be of use is left out.
std::shared_ptr<rounds::round> rounds::next_for(link& l, std::size_t node, time_point now)
{
    auto r = std::make_shared<round>();
    while (!l.queue.empty() && r->tickets.size() < catch_up_max) {
        ticket t = std::move(l.queue.front());
        l.queue.pop_front();
        if (t.asked_by->wanted(node, now)) {
            r->work.commands.push_back(t.request);
            r->tickets.push_back(std::move(t));
        } else if (t.request.what == verb::release) {
            t.asked_by->on_vote(node, reply{vote::refused, {}, {}}, now);  // never got there, or has expired
        } else {
            t.asked_by->on_vote(node, failure(errc::node_timeout), now);
        }
    }
    return r;
}

void rounds::up(std::size_t node)
{
    links_[node].state = link_state::up;
    catch_up(node);
}

void rounds::down(std::size_t node)
{
    link& l = links_[node];
    l.state = link_state::down;
    auto const now = now_();
    auto waiting = std::exchange(l.queue, {});
    for (ticket& t : waiting) enqueue(node, t, now);
}

void rounds::close()
{
    closed_ = true;
    for (std::size_t i = 0; i < links_.size(); ++i) down(i);
}

void rounds::clear() noexcept
{
    auto const links = std::exchange(links_, {});
    auto const outgoing = std::exchange(outgoing_, {});
}

}  // namespace redlock::detail
