#include "redis/durability_waits.hpp"

#include <utility>

namespace redlock::detail {

durability_waits::durability_waits(std::shared_ptr<redis_connection> connection, durability const& wanted)
    : connection_{std::move(connection)}, wanted_{wanted}, request_{durability_request(wanted)}
{
    sink_ = [this](std::size_t call, boost::redis::resp3::node_view const& node) { reader_.on_node(call, node); };
}

void durability_waits::wait(handler then, std::string_view prefix)
{
    if (next_.empty()) next_prefix_ = prefix;
    next_.push_back(std::move(then));
    if (!under_way_) start();
}

void durability_waits::start()
{
    under_way_ = true;
    reader_ = durability_reader{wanted_};
    if (prefix_ != next_prefix_) {
        prefix_ = next_prefix_;
        request_ = durability_request(wanted_, prefix_);
    }
    auto answered = [self = shared_from_this(), who = std::exchange(next_, {})](error_code ec) mutable {
        auto result = self->reader_.conclude();
        if (ec) result = not_durable{errc::not_durable, "the connection that waits for it was lost"};
        for (handler& then : who) std::move(then)(result);
        self->under_way_ = false;
        if (!self->next_.empty()) self->start();
    };
    connection_->send(request_, sink_, std::move(answered));
}

}  // namespace redlock::detail
