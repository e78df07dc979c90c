#include "core/acquire/permit_queries.hpp"

#include "core/failed_votes.hpp"
#include "core/resolved_options.hpp"
#include "quorum/slot_set.hpp"
#include "quorum/votes.hpp"

#include <redlock/detail/permit_pool.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <variant>

namespace redlock::detail {

class permit_queries::question final : public vote_handler, public timer, public std::enable_shared_from_this<question> {
public:
    using handlers = std::variant<permit_query_handler, available_handler>;

    question(permit_queries& owner, permit_query&& what, handlers&& to_tell)
        : owner_{owner}, what_{std::move(what)}, to_tell_{std::move(to_tell)}
    {
    }
    ~question() { owner_.env_.cancel_timer(*this); }

    void start(time_point now)
    {
        environment& env = owner_.env_;
        nodes_.resize(env.to_nodes->nodes());
        failures_.keep(nodes_.size());
        ends_ = now + what_.under->times.node_timeout;
        env.set_timer(*this, ends_);
        permit_pool const& pool = *what_.of;
        command c{what_.version > 0 ? verb::keep : verb::look, pool.record, {}, {}};
        if (what_.version > 0) {
            c.fenced = true;
            c.permits = pool.permits;
            c.change_more().version = what_.version;
            c.retention = what_.under->tokens.retention;
        } else {
            c.others = pool.keys;
        }
        env.to_nodes->add({c, shared_from_this()});
    }

    void on_vote(std::size_t node, reply const& answer, time_point) override
    {
        if (is_done_) return;
        answered_.add(node);
        failures_.add(node, answer);
        if (answer.slots()) {
            permits_on_node& said = nodes_[node];
            said.answered = true;
            said.kept = answer.vote == vote::granted;
            said.permits = answer.slots()->permits;
            said.version = answer.slots()->version;
            said.free = answer.slots()->free;
        }
        if (answered_.size() == nodes_.size()) owner_.complete(*this, {});
    }
    bool wanted(std::size_t, time_point now) const override { return !is_done_ && now < ends_; }
    void on_timer(time_point) override { owner_.complete(*this, {}); }

    void finish(error_code ec)
    {
        is_done_ = true;
        owner_.env_.cancel_timer(*this);
        bool const nobody = std::none_of(nodes_.begin(), nodes_.end(), [](permits_on_node const& n) { return n.answered; });
        bool const unasked = nobody && !owner_.env_.has_run;
        if (auto* const all = std::get_if<permit_query_handler>(&to_tell_))
            return (*all)(!ec && unasked ? error_code{errc::client_not_running} : ec,
                          {std::move(nodes_), failures_.first(*owner_.env_.to_nodes)});
        auto const [problem, free] = free_on_majority(*what_.of, nodes_, owner_.env_.voters.needed);
        error_code const result = ec ? ec : unasked ? error_code{errc::client_not_running} : problem;
        auto& handler = std::get<available_handler>(to_tell_);
        if (result == errc::no_majority) handler.explain([&](failure_note& note) { note.reason = failures_.first(*owner_.env_.to_nodes); });
        handler(result, ec ? 0 : free);
    }

private:
    permit_queries& owner_;
    permit_query const what_;
    handlers to_tell_;
    std::vector<permits_on_node> nodes_;
    quorum::node_set answered_;
    failed_votes failures_;
    time_point ends_{};
    bool is_done_{false};
};

std::shared_ptr<permit_queries::question> permit_queries::make(permit_query&& what, permit_query_handler&& to_tell)
{
    return std::make_shared<question>(*this, std::move(what), std::move(to_tell));
}

std::shared_ptr<permit_queries::question> permit_queries::make(permit_query&& what, available_handler&& to_tell)
{
    return std::make_shared<question>(*this, std::move(what), std::move(to_tell));
}

void permit_queries::start(std::shared_ptr<question> const& what, time_point now)
{
    running_.push_back(what);
    what->start(now);
}

void permit_queries::complete(question& what, error_code ec)
{
    auto const it = std::find_if(running_.begin(), running_.end(), [&](auto const& each) { return each.get() == &what; });
    if (it == running_.end()) return;
    auto const self = std::move(*it);
    running_.erase(it);
    self->finish(ec);
}

void permit_queries::fail_all(error_code why)
{
    for (auto const& each : std::exchange(running_, {})) each->finish(why);
}

std::pair<error_code, std::size_t> free_on_majority(permit_pool const& of, std::vector<permits_on_node> const& nodes, std::size_t needed)
{
    auto const answered = std::count_if(nodes.begin(), nodes.end(), [](permits_on_node const& n) { return n.answered; });
    if (static_cast<std::size_t>(answered) < needed) return {errc::no_majority, 0};
    permits_on_node newest;
    for (permits_on_node const& n : nodes)
        if (n.version > newest.version) newest = n;
    if (newest.version > 0 && newest.permits != of.permits) return {errc::permits_differ, 0};
    std::size_t free = 0;
    for (std::size_t slot = 0; slot < of.keys.size(); ++slot) {
        auto const on = std::count_if(nodes.begin(), nodes.end(),
                                      [&](permits_on_node const& n) { return n.answered && quorum::has_slot(n.free, slot); });
        if (static_cast<std::size_t>(on) >= needed) ++free;
    }
    return {{}, free};
}

}  // namespace redlock::detail
