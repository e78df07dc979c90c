#include "node/durability_waits.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

durability_waits::durability_waits(std::shared_ptr<redis_connection> connection, durability const& wanted)
    : connection_{std::move(connection)},
      wanted_{wanted},
      usual_{wanted.timeout},
      behind_{wanted.timeout},
      request_{durability_request(wanted)}
{
    sink_ = [this](std::size_t call, boost::redis::resp3::node_view const& node) { reader_.on_node(call, node); };
}

void durability_waits::wait(handler then, std::string_view key_prefix, std::chrono::milliseconds at_most)
{
    if (next_handlers_.empty()) next_prefix_ = key_prefix;
    next_longest_ = std::max(next_longest_, at_most);
    next_handlers_.push_back(std::move(then));
    if (!is_waiting_) start();
}

void durability_waits::ask_for(std::chrono::milliseconds timeout)
{
    if (wanted_.timeout == timeout && prefix_of_request_ == next_prefix_) return;
    wanted_.timeout = timeout;
    prefix_of_request_ = next_prefix_;
    request_ = durability_request(wanted_, prefix_of_request_);
}

void durability_waits::start()
{
    is_waiting_ = true;
    ask_for(std::clamp(std::exchange(next_longest_, {}), usual_, behind_));
    reader_ = durability_reader{wanted_, acknowledged_};
    auto answered = [self = shared_from_this(), handlers = std::exchange(next_handlers_, {})](error_code ec) mutable {
        auto result = self->reader_.conclude();
        if (auto const now = self->reader_.acknowledged()) self->acknowledged_ = now;
        if (!result) self->behind_ = std::max(self->usual_, self->behind_ * 7 / 8);
        else if (result->is_late) self->behind_ = std::min(longest * self->usual_, std::max(self->behind_, 2 * self->wanted_.timeout));
        else self->behind_ = self->usual_;
        if (ec) result = not_durable{errc::not_durable, "the connection that waits for it was lost"};
        for (handler& then : handlers) std::move(then)(result);  // one that calls wait() again joins the next wait
        self->is_waiting_ = false;
        if (!self->next_handlers_.empty()) self->start();
    };
    connection_->send(request_, sink_, std::move(answered));
}

}  // namespace redlock::detail
