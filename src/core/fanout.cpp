#include "core/fanout.hpp"

#include "base/strand.hpp"

#include <redlock/detail/completion_batch.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/defer.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/require.hpp>

#include <algorithm>
#include <cassert>
#include <string_view>
#include <utility>

namespace redlock::detail {

fanout::fanout(strand_type const& strand, std::vector<std::unique_ptr<node>> nodes, std::size_t max_queue, clock_function now,
               clock_rules rules)
    : posting_{asio::require(strand, asio::execution::blocking.never)}, now_{now}, max_queue_{max_queue}, rules_{rules}
{
    assert(!nodes.empty());
    suspend_for(rules.lasts);
    links_.reserve(nodes.size());
    for (auto& n : nodes) links_.emplace_back(rules.clock_drift).peer = std::move(n);
}

void fanout::add(pending_request&& request)
{
    request.era = era_;
    (request.first ? outgoing_first_ : outgoing_).add(std::move(request));
    if (std::exchange(flush_posted_, true)) return;
    // Behind everything that is ready to run now: those operations get into the same round.
    auto later = [self = shared_from_this()] { self->flush_later(); };
    using usual = decltype(asio::require(std::declval<implicit_strand_of_io_context const&>(), asio::execution::blocking.never));
    if (auto const* const plain = posting_.target<usual>()) {  // without a detour through the erased type it costs half
        asio::require(*plain, asio::execution::allocator(recycling<void>{})).execute(std::move(later));
    } else {
        posting_.execute(std::move(later));
    }
}

void fanout::start(std::weak_ptr<node_listener> const& listener)
{
    for (std::size_t i = 0; i < links_.size(); ++i) links_[i].peer->start(i, listener);
}

void fanout::stop()
{
    for (link& l : links_) l.peer->stop();
}

void fanout::check_address(std::size_t node) { links_[node].peer->check_address(); }

bool fanout::in_step(link const& l, round const& r, time_point now) const noexcept
{
    bool const may = (!r.has.votes_with_tokens || l.may_vote == right_to_vote::yes) && !(r.has.may_grant && l.clock.is_suspended(now));
    bool const has_room = r.has.extensions == 0 || (l.extensions.empty() && l.extensions_under_way + r.has.extensions <= l.pace.window());
    return l.state == link_state::up && may && l.queue.empty() && l.in_flight < max_in_flight && has_room;
}

void fanout::flush_later()
{
    flush_posted_ = false;
    flush();
}

void fanout::flush()
{
    ++next_round_;
    if (outgoing_first_.empty() && outgoing_.empty()) return;
    splitting_first_.swap(outgoing_first_);  // what is sent may be answered at once, and then more is added
    splitting_.swap(outgoing_);
    auto const all = [this] { return splitting_first_.size() + splitting_.size(); };  // none, once clear() was called
    crowded_.store(all() > crowd, std::memory_order_relaxed);
    std::size_t const most = std::max(worth_a_message, (all() + messages_at_once - 1) / messages_at_once);
    if (splitting_first_.empty() && end_of_message(0, most) == all()) {
        send(splitting_);
    } else {
        for (std::size_t i = 0; i < all();) {
            for (auto const end = end_of_message(i, most); i < end; ++i) {
                std::size_t const firsts = splitting_first_.size();
                i < firsts ? message_.take(splitting_first_, i) : message_.take(splitting_, i - firsts);
            }
            send(message_);
        }
    }
    splitting_first_.clear();
    splitting_.clear();
}

// The end of the message that begins with request `first` of those being split, and has `most` requests at the most.
std::size_t fanout::end_of_message(std::size_t first, std::size_t most) const noexcept
{
    std::size_t const firsts = splitting_first_.size();  // none of these is slow: they are releases
    std::size_t const last = std::min(firsts + splitting_.size(), first + most);
    if (!splitting_.has.votes_with_tokens) return last;
    std::size_t slow = 0;
    for (std::size_t i = std::max(first, firsts); i < last; ++i) {
        command const& c = splitting_.commands[i - firsts];
        if (c.may_grant() && c.votes_with_tokens() && ++slow > max_slow_votes) return i;
    }
    return last;
}

// Sends a batch as one round: at once to the nodes that are in step, and through their queues to the others.
void fanout::send(request_batch& of)
{
    auto const now = now_();
    auto const r = make_round(of);
    quorum::node_set const apart = r->has.apart;  // these get bytes of their own

    quorum::node_set direct;
    for (std::size_t i = 0; i < links_.size(); ++i)
        if (!apart.has(i) && in_step(links_[i], *r, now)) direct.add(i);
    if (!direct.empty()) launch(r, direct, now);
    for (std::size_t i = 0; i < links_.size(); ++i) {
        if (direct.has(i)) continue;
        request_batch theirs;
        for (std::size_t k = 0; k < r->targets.size(); ++k)
            if (r->targets[k].goes_to(i)) theirs.add(r->at(k));
        if (theirs.empty()) continue;
        if (apart.has(i)) {
            auto const own = make_round(theirs);
            if (in_step(links_[i], *own, now)) {
                launch(own, quorum::node_set::only(i), now);
                continue;
            }
            for (std::size_t k = 0; k < own->targets.size(); ++k) enqueue(i, own->at(k), now);
        } else {
            for (std::size_t k = 0; k < theirs.size(); ++k)
                enqueue(i, {theirs.commands[k], theirs.targets[k].who, theirs.targets[k].not_at, false, 0, theirs.targets[k].era}, now);
        }
        catch_up(i);  // a node without a vote can still do the rest
    }
}

std::shared_ptr<fanout::round> fanout::make_round(request_batch& of)
{
    std::shared_ptr<round> r;
    if (spare_.empty()) {
        r = std::make_shared<round>();
    } else {
        r = std::move(spare_.back());
        spare_.pop_back();
    }
    r->work.commands.swap(of.commands);
    r->targets.swap(of.targets);
    r->parts.resize(links_.size());
    r->has = std::exchange(of.has, {});
    return r;
}

// All nodes that the round went to have answered. Keeps the round and its memory for another one.
void fanout::retire(std::shared_ptr<round> const& r)
{
    constexpr std::size_t max_spare_rounds = 16;
    r->work.commands.clear();
    r->work.is_encoded = false;
    r->targets.clear();
    for (part& p : r->parts) p.as.reset();
    if (spare_.size() < max_spare_rounds) spare_.push_back(r);
}

// `now`: a moment before it leaves. `then` is called when the votes are filed.
template <class Then>
void fanout::exec(std::shared_ptr<round> const& r, std::size_t node, time_point now, Then then)
{
    link& l = links_[node];
    assert(takes_releases(l));
    assert(!r->has.votes_with_tokens || l.may_vote == right_to_vote::yes);
    ++l.in_flight;
    l.extensions_under_way += r->has.extensions;
    has_asked_ = has_asked_ || r->has.counts_in_era;
    l.may_have_keys = l.may_have_keys || r->has.counts_in_era;
    part& p = r->parts[node];
    p.as = l.as;
    p.sent = now;
    p.extensions = l.extensions_under_way;
    std::string_view const id = p.as ? std::string_view{p.as->id} : std::string_view{};
    auto done = [self = shared_from_this(), r, node, then = std::move(then)](error_code ec) mutable {
        self->file(r, node, ec);
        std::move(then)();
    };
    l.peer->exec(r->work, id, p.replies, asio::bind_allocator(recycling<void>{}, std::move(done)));
}

void fanout::exec_alone(std::shared_ptr<round> const& r, std::size_t node, time_point now)
{
    for (target const& a : r->targets) a.who->on_sent(quorum::node_set::only(node), now);
    r->open = 1;
    exec(r, node, now, [] {});
}

// Starts one node's part of a round, in the form that parallel_group wants. It is called before launch() returns.
class fanout::start_exec {
public:
    start_exec(fanout& owner, std::shared_ptr<round> const& r, std::size_t node, time_point now)
        : owner_{&owner}, round_{&r}, node_{node}, now_{now}
    {
    }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        // No slot is passed on: a request to Redis is never cancelled.
        owner_->exec(*round_, node_, now_, std::forward<Handler>(handler));
    }

private:
    fanout* owner_;
    std::shared_ptr<round> const* round_;
    std::size_t node_;
    time_point now_;
};

void fanout::launch(std::shared_ptr<round> const& r, quorum::node_set const& to, time_point now)
{
    auto start_part = [&](std::size_t i) {
        return asio::async_initiate<asio::deferred_t const&, void()>(start_exec{*this, r, i, now}, asio::deferred);
    };
    for (target const& a : r->targets) a.who->on_sent(to, now);
    std::vector<decltype(start_part(0)), recycling<decltype(start_part(0))>> parts;
    parts.reserve(links_.size());
    for (std::size_t i = 0; i < links_.size(); ++i) {
        if (to.has(i)) parts.push_back(start_part(i));
    }
    r->open = parts.size();
    // Votes are filed as each node answers (see exec): when all have, there is nothing left to do.
    asio::experimental::make_parallel_group(std::allocator_arg, recycling<void>{}, std::move(parts))
        .async_wait(asio::experimental::wait_for_all(), [](auto const& /* the order */) {});
}

void fanout::file(std::shared_ptr<round> const& r, std::size_t node, error_code ec)
{
    if (links_.empty()) return;
    completion_batch const together{single_};
    link& l = links_[node];
    assert(l.in_flight > 0);
    --l.in_flight;
    l.extensions_under_way -= r->has.extensions;
    auto const now = now_();
    part& p = r->parts[node];
    if (!ec && r->has.extensions > 0) l.pace.on_answer(p.extensions, now - p.sent, r->has.shortest_ttl);
    if (!ec && r->has.oldest_era != era_) drop_votes_of_earlier_eras(*r, node);
    if (!ec) check_clock(*r, node, now);
    if (links_.empty()) return;
    bool doubtful = false;
    for (std::size_t i = 0; i < r->targets.size(); ++i) {
        vote_handler& who = *r->targets[i].who;
        if (ec) {
            who.on_vote(node, failure_to_connect(errc::node_unreachable), now);
            if (links_.empty()) return;
            defer_release(node, r->at(i), now);  // nobody knows whether it was executed; to delete twice what is ours does no harm
            continue;
        }
        reply& answer = p.replies[i];
        if (p.as) answer.admission = p.as->number;
        bool const failed = answer.vote == vote::failed;
        doubtful = doubtful || (failed && answer.error == errc::node_not_admitted);
        if (l.state == link_state::leaving) answer = l.lost;  // what it says does not count any more
        who.on_vote(node, answer, now);
        if (links_.empty()) return;
        if (failed) retry_release(node, r->at(i), now);
    }
    if (doubtful && p.as == l.as && on_suspect) on_suspect(node);
    if (--r->open == 0) retire(r);
    catch_up(node);
}

void fanout::up(std::size_t node)
{
    links_[node].state = link_state::up;
    links_[node].may_have_keys = false;
    catch_up(node);
}

void fanout::ask(std::size_t node, pending_request request)
{
    request.era = era_;
    bool const is_taken = request.request.what == verb::release ? takes_releases(links_[node]) : links_[node].state == link_state::up;
    if (!is_taken) {
        auto const now = now_();
        request.asked_by->on_vote(node, links_[node].lost, now);
        return defer_release(node, request, now);
    }
    request_batch one;
    one.add(std::move(request));
    auto const r = make_round(one);
    exec_alone(r, node, now_());
}

void fanout::close()
{
    closed_ = true;
    auto const given_up = std::exchange(release_retries_, {});
    for (std::size_t i = 0; i < links_.size(); ++i) {
        links_[i].rejected_with = {};
        down(i, errc::client_cancelled, "the client was cancelled");
    }
}

void fanout::clear() noexcept
{
    auto const links = std::exchange(links_, {});
    auto const later = std::exchange(release_retries_, {});
    auto const first = std::exchange(outgoing_first_, {});
    auto const spare = std::exchange(spare_, {});
    auto const outgoing = std::exchange(outgoing_, {});
    auto const splitting_first = std::exchange(splitting_first_, {});
    auto const splitting = std::exchange(splitting_, {});
    auto const message = std::exchange(message_, {});
}

}  // namespace redlock::detail
