#include "node/suitability_watch.hpp"

#include <redlock/clock.hpp>

#include <utility>

namespace redlock::detail {

namespace {

// The calls of suitability_request, in order.
enum suitability_call : std::size_t { memory, replication, time };

}  // namespace

boost::redis::request suitability_request()
{
    boost::redis::request request{one_connection_only()};
    request.push("INFO", "memory");
    request.push("INFO", "replication");
    request.push("TIME");
    return request;
}

void suitability_reader::on_node(std::size_t index, boost::redis::resp3::node_view const& node)
{
    if (index == time) return time_.on_node(node);
    if (node.depth == 0 && !is_error(node)) facts_.read_info(node.value);
}

std::optional<std::string> suitability_reader::objection() const
{
    if (auto why_not = objection_to(facts_)) return why_not;
    return objection_to_group(facts_.connected_replicas().value_or(0), replicas_);
}

suitability_watch::suitability_watch(asio::any_io_executor const& strand, std::shared_ptr<redis_connection> connection,
                                     std::uint16_t replicas, listener to)
    : connection_{std::move(connection)}, replicas_{replicas}, listener_{std::move(to)}, timer_{strand}
{
    sink_ = [this](std::size_t call, boost::redis::resp3::node_view const& node) { reader_.on_node(call, node); };
}

void suitability_watch::start()
{
    timer_.expires_after(interval);
    timer_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && !self->stopped_) self->ask();
    });
}

void suitability_watch::stop()
{
    stopped_ = true;
    timer_.cancel();
}

void suitability_watch::ask()
{
    reader_ = suitability_reader{replicas_};
    sent_ = boot_clock::now();
    connection_->send(request_, sink_, [self = shared_from_this()](error_code ec) { self->answered(ec); });
}

void suitability_watch::answered(error_code ec)
{
    if (ec || stopped_) return;
    if (auto const why_not = reader_.objection()) return listener_.on_objection(*why_not);
    if (auto const clock = reader_.clock(); clock > quorum::wall_time{}) listener_.on_time(clock, sent_, boot_clock::now());
    start();
}

}  // namespace redlock::detail
