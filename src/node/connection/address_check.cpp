#include "node/connection/address_check.hpp"

#include <utility>

namespace redlock::detail {

address_check::address_check(asio::any_io_executor strand, connection_settings const& settings, handshake const& questions)
    : settings_{settings}, connection_{std::make_shared<redis_connection>(std::move(strand), settings_, questions)}
{
}

void address_check::start(handler done)
{
    done_ = std::move(done);
    connection_->open(shared_from_this());
}

void address_check::stop()
{
    done_ = nullptr;
    if (connection_) connection_->close();
}

void address_check::on_open(redis_connection&) { connection_->close(); }

// A server that is refused has told its id, too.
void address_check::on_closed(redis_connection& from, error_code, std::string const&)
{
    connection_.reset();
    if (auto const done = std::exchange(done_, nullptr)) done(from.server().run_id());
}

}  // namespace redlock::detail
