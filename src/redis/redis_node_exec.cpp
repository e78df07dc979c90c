#include "redis/redis_node_impl.hpp"
#include "redis/repetition.hpp"

#include <redlock/detail/recycling.hpp>

#include <boost/asio/bind_allocator.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

request_extras redis_node::impl::extras_for(std::string_view prefix, batch const& work) const
{
    // In a cluster the record says nothing of the server, since it moves with the slot.
    bool const look = in_cluster_ || (identity_ == identity_check::every_message && main_->server().says_its_id());
    return {.load_scripts = false, .time = true, .identity = look && work.votes_with_tokens(), .prefix = prefix};
}

// `shared`: what its calls are, and its bytes unless there is an own copy.
template <class Handler>
void redis_node::impl::send(redis_request const& shared, std::unique_ptr<redis_request> mine, std::string_view id,
                            std::vector<reply>& replies, Handler handler)
{
    auto const& calls = mine && !mine->calls.empty() ? mine->calls : shared.calls;
    auto const& request = mine ? mine->request : shared.request;
    auto const e = make_recycled<exchange>(std::move(mine), calls, id, replies);
    e->sink = [this, raw = e.get()](std::size_t call, boost::redis::resp3::node_view const& node) {
        changes_.answers_begin(raw->changed);
        raw->reader.on_node(call, node);
    };
    auto done = [self = shared_from_this(), e, &replies, handler = std::move(handler)](error_code ec) mutable {
        self->changes_.answers_end(e->changed);
        if (ec) return std::move(handler)(ec, reply_reader::repeatable{});
        e->reader.conclude();
        if (e->reader.has_facts()) {
            self->suspicion_.apply(replies);
            self->binding_.apply(replies);
        }
        bool const demoted = e->reader.is_demoted();
        if (e->own) self->requests_.give_back(std::move(e->own));
        std::move(handler)(error_code{}, e->reader.what_to_repeat());
        self->changes_.tell(e->changed);
        if (demoted) self->reject(errc::node_unsuitable, why_not_a_replica());
    };
    main_->send(request, e->sink, asio::bind_allocator(recycling<void>{}, std::move(done)));
}

void redis_node::impl::exec(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies,
                            exec_handler handler)
{
    assert(state_ == state::usable);
    replies.resize(work.commands.size());
    auto const extras = extras_for(prefix, work);
    auto [wire, mine] = requests_.bytes_of(work, id, extras);
    auto done = [self = shared_from_this(), waits = durability_waits_, prefix, &work, id, &replies,
                 handler = std::move(handler)](error_code ec, reply_reader::repeatable again) mutable {
        if (ec) return std::move(handler)(ec);
        if (again) return self->repeat(again, prefix, work, id, replies, std::move(handler));
        self->complete(waits, prefix, work, replies, std::move(handler));
    };
    send(wire, std::move(mine), id, replies, std::move(done));
}

// What the main connection has answered is reported at once, unless a vote among it has to become durable first. What is sent later
// can be answered sooner: a rollback of such a vote need not wait for it. `waits`: those that were made with the main
// connection that answered; a server that came back would answer for what it has lost.
void redis_node::impl::complete(std::shared_ptr<durability_waits> const& waits, std::string_view prefix, batch const& work,
                                std::vector<reply>& replies, exec_handler handler)
{
    if (!waits || !has_to_be_durable(work, replies)) return std::move(handler)(error_code{});
    auto const is_watch = [](command const& c) { return c.what == verb::watch; };
    bool const watches = std::any_of(work.commands.begin(), work.commands.end(), is_watch);
    if (watches) changes_.hold_back();
    waits->wait(
        [weak = weak_from_this(), watches, &work, &replies,
         handler = std::move(handler)](std::optional<not_durable> const& why_not) mutable {
            if (why_not) take_back(work, replies, *why_not);
            std::move(handler)(error_code{});
            auto const self = weak.lock();
            if (self && watches) self->changes_.go_on();
        },
        prefix);
}

void redis_node::impl::repeat(reply_reader::repeatable what, std::string_view prefix, batch const& work, std::string_view id,
                              std::vector<reply>& replies, exec_handler handler)
{
    if (state_ != state::usable) return std::move(handler)(errc::node_unreachable);

    auto const again = std::make_shared<repetition>(what, work, replies);
    auto extras = extras_for(prefix, again->work());
    extras.load_scripts = what.scripts;
    extras.apart = what.apart;
    auto mine = std::make_unique<redis_request>(again->work(), id, extras);
    auto const& wire = *mine;
    auto done = [self = shared_from_this(), waits = durability_waits_, prefix, again, &work, &replies,
                 handler = std::move(handler)](error_code ec, reply_reader::repeatable) mutable {
        if (ec) return std::move(handler)(ec);
        again->give_back(replies);
        self->complete(waits, prefix, work, replies, std::move(handler));
    };
    send(wire, std::move(mine), id, again->replies(), std::move(done));
}

}  // namespace redlock::detail
