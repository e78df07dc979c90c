#include "node/redis_node_impl.hpp"
#include "protocol/repetition.hpp"

#include <boost/redis/resp3/node.hpp>

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

// A message that waits for its answers, which become replies to a batch, or to the part of it that is repeated.
class redis_node::impl::message final : public exchange {
public:
    // `calls`: must live as long. `own`: what is sent, unless that is shared. `again`: what it repeats.
    message(std::shared_ptr<impl> owner, std::vector<wire_call> const& calls, std::unique_ptr<redis_request> own, batch_part const& of,
            exec_handler handler, std::shared_ptr<repetition> again = {})
        : owner_{std::move(owner)},
          waits_{owner_->durability_waits_},
          of_{of},
          own_{std::move(own)},
          again_{std::move(again)},
          reader_{calls, of.id, read_into(), again_ ? again_->work().commands.size() : of.work.commands.size()},
          handler_{std::move(handler)}
    {
    }

    void on_node(std::size_t call, boost::redis::resp3::node_view const& node) override
    {
        owner_->changes_.answers_begin(changed_);
        reader_.on_node(call, node);
    }

    void on_answered(error_code ec) override
    {
        owner_->changes_.answers_end(changed_);
        if (ec) return std::move(handler_)(ec);
        reader_.conclude();
        if (reader_.has_facts()) {
            owner_->suspicion_.apply(read_into());
            owner_->binding_.apply(read_into());
        }
        bool const demoted = reader_.is_demoted();
        if (own_) owner_->requests_.give_back(std::move(own_));
        pass_on();
        owner_->changes_.tell(changed_);
        if (demoted) owner_->reject(errc::node_unsuitable, why_not_a_replica());
    }

private:
    std::vector<reply>& read_into() const { return again_ ? again_->replies() : of_.replies; }

    void pass_on()
    {
        auto const again = reader_.what_to_repeat();
        if (again && !again_) return owner_->repeat(again, of_, std::move(handler_));
        if (again_) again_->give_back(of_.replies);
        if (waits_ && has_to_be_durable(of_.work, of_.replies))
            return owner_->wait_for_durability(*waits_, of_, boot_clock::now() + longest_wait_of(of_.work), std::move(handler_));
        std::move(handler_)(error_code{});
    }

    std::shared_ptr<impl> owner_;
    std::shared_ptr<durability_waits> waits_;  // those that were made with the connection that answers
    batch_part of_;
    std::unique_ptr<redis_request> own_;
    std::shared_ptr<repetition> again_;
    reply_reader reader_;
    change_notices::keys changed_;  // said by the server while it answered this
    exec_handler handler_;
};

void redis_node::impl::exec(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies,
                            exec_handler handler)
{
    assert(state_ == state::usable);
    auto [wire, mine] = requests_.bytes_of(work, id, extras_for(prefix, work));
    auto const& calls = mine && !mine->calls.empty() ? mine->calls : wire.calls;
    auto const& request = mine ? mine->request : wire.request;
    batch_part const of{prefix, work, id, replies};
    main_->send(request, std::make_unique<message>(shared_from_this(), calls, std::move(mine), of, std::move(handler)));
}

// A vote that the main connection has answered has to become durable before it is reported. What is sent later can be answered sooner: a
// rollback of such a vote need not wait for it. `waits`: those that were made with the main connection that answered; a server that came back
// would answer for what it has lost. Waits again while replicas are behind, until `wait_until`.
void redis_node::impl::wait_for_durability(durability_waits& waits, batch_part const& of, quorum::time_point wait_until,
                                           exec_handler handler)
{
    auto const is_watch = [](command const& c) { return c.what == verb::watch; };
    bool const watches = std::any_of(of.work.commands.begin(), of.work.commands.end(), is_watch);
    if (watches) changes_.hold_back();
    waits.wait(
        [weak = weak_from_this(), &waits, of, wait_until, watches,
         handler = std::move(handler)](std::optional<not_durable> const& why_not) mutable {
            auto const self = weak.lock();
            if (self && why_not && why_not->is_late && boot_clock::now() < wait_until)
                return self->wait_for_durability(waits, of, wait_until, std::move(handler));
            if (why_not) take_back(of.work, of.replies, *why_not);
            std::move(handler)(error_code{});
            if (self && watches) self->changes_.go_on();
        },
        of.prefix, std::chrono::duration_cast<std::chrono::milliseconds>(wait_until - boot_clock::now()));
}

void redis_node::impl::repeat(reply_reader::repeatable what, batch_part const& of, exec_handler handler)
{
    if (state_ != state::usable) return std::move(handler)(errc::node_unreachable);

    auto again = std::make_shared<repetition>(what, of.work, of.replies);
    auto extras = extras_for(of.prefix, again->work());
    extras.load_scripts = what.scripts;
    extras.apart = what.apart;
    auto mine = std::make_unique<redis_request>(again->work(), of.id, extras);
    auto const& wire = *mine;
    main_->send(wire.request,
                std::make_unique<message>(shared_from_this(), wire.calls, std::move(mine), of, std::move(handler), std::move(again)));
}

}  // namespace redlock::detail
