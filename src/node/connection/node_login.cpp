#include "node/connection/node_login.hpp"

#include "node/connection/credentials.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace redlock::detail {

// AUTH with the same credentials on each connection of the node.
struct node_login::reauthentication {
    std::size_t unanswered{0};
    std::string refusal;  // empty: none
};

node_login::node_login(asio::any_io_executor strand, node_address const& node, config const& settings)
    : strand_{std::move(strand)},
      ask_{has_password(node) ? credentials_function{} : settings.credentials},
      node_{node},
      limit_{settings.credentials_timeout},
      min_pause_{settings.min_reconnect_delay},
      pause_{settings.min_reconnect_delay, settings.max_reconnect_delay},
      random_{std::random_device{}()},
      timer_{strand_}
{
}

void node_login::obtain(credentials_request::result_handler handler)
{
    stop();
    ask(std::move(handler));
}

void node_login::ask(credentials_request::result_handler handler)
{
    auto received = [weak = weak_from_this(), handler = std::move(handler)](std::string const& why_not, credentials const& got) {
        auto const self = weak.lock();
        if (!self) return;
        self->request_.reset();
        if (why_not.empty()) {
            // The bound keeps the sum within what the clock can count.
            auto const valid = std::min<std::chrono::milliseconds>(got.valid_for.value_or(std::chrono::milliseconds{}),
                                                                   std::chrono::years{1});
            self->renewal_.reset();
            if (got.valid_for) self->renewal_ = steady::now() + std::max<steady::duration>(valid * 3 / 4, self->min_pause_);
        }
        handler(why_not, got);
    };
    request_ = std::make_shared<credentials_request>(strand_, std::move(received));
    request_->start(ask_, node_, limit_);
}

void node_login::keep(std::vector<std::shared_ptr<redis_connection>> connections, std::function<void(std::string const&)> told)
{
    if (!renewal_) return;
    told_ = std::move(told);
    connections_ = std::move(connections);
    pause_.reset();
    renew_at(*renewal_);
}

void node_login::stop()
{
    timer_.cancel();
    connections_.clear();
    told_ = nullptr;
    reauthentication_.reset();
    renewal_.reset();
    if (auto const request = std::exchange(request_, nullptr)) request->cancel();
}

void node_login::renew_at(steady::time_point when)
{
    timer_.expires_at(when);
    timer_.async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) self->renew();
    });
}

void node_login::renew()
{
    if (connections_.empty() || request_ || reauthentication_) return;
    ask([this](std::string const& why_not, credentials const& got) {
        if (why_not.empty()) authenticate(got);
        else retry(why_not);
    });
}

void node_login::authenticate(credentials const& with)
{
    auto const now = reauthentication_ = std::make_shared<reauthentication>();
    now->unanswered = connections_.size();
    auto const connections = connections_;
    for (auto const& connection : connections)
        connection->log_in(with.username, with.password, [self = shared_from_this(), now](error_code ec, std::string const& refusal) {
            if (!refusal.empty()) now->refusal = refusal;
            self->answered(now, ec);
        });
}

// A connection that was lost is closed with the other one, and then the node calls stop().
void node_login::answered(std::shared_ptr<reauthentication> const& which, error_code ec)
{
    if (reauthentication_ != which || ec || --which->unanswered > 0) return;
    reauthentication_.reset();
    if (!which->refusal.empty()) return retry("the server refused them: " + which->refusal);
    pause_.reset();
    told_({});
    if (renewal_) renew_at(*renewal_);
}

// A server that refuses AUTH keeps the connection as it was.
void node_login::retry(std::string const& why_not)
{
    renew_at(steady::now() + pause_.next(random_));
    told_("the credentials could not be renewed, and the client repeats the attempt: " + why_not);
}

}  // namespace redlock::detail
