#include "node/durability_waits.hpp"

#include <utility>

namespace redlock::detail {

durability_waits::durability_waits(std::shared_ptr<redis_connection> connection, durability const& wanted)
    : connection_{std::move(connection)}, wanted_{wanted}, request_{durability_request(wanted)}
{
    sink_ = [this](std::size_t call, boost::redis::resp3::node_view const& node) { reader_.on_node(call, node); };
}

void durability_waits::wait(handler then, std::string_view key_prefix)
{
    if (next_handlers_.empty()) next_prefix_ = key_prefix;
    next_handlers_.push_back(std::move(then));
    if (!is_waiting_) start();
}

void durability_waits::start()
{
    is_waiting_ = true;
    reader_ = durability_reader{wanted_};
    if (prefix_of_request_ != next_prefix_) {
        prefix_of_request_ = next_prefix_;
        request_ = durability_request(wanted_, prefix_of_request_);
    }
    auto answered = [self = shared_from_this(), handlers = std::exchange(next_handlers_, {})](error_code ec) mutable {
        auto result = self->reader_.conclude();
        if (ec) result = not_durable{errc::not_durable, "the connection that waits for it was lost"};
        for (handler& then : handlers) std::move(then)(result);  // one that calls wait() again joins the next wait
        self->is_waiting_ = false;
        if (!self->next_handlers_.empty()) self->start();
    };
    connection_->send(request_, sink_, std::move(answered));
}

}  // namespace redlock::detail
