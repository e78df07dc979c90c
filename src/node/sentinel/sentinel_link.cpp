#include "node/sentinel/sentinel_link.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace redlock::detail {

using boost::redis::resp3::node_view;

namespace {

// A Sentinel says much about each replica.
constexpr std::size_t max_sentinel_answer = 262'144;

}  // namespace

sentinel_link::sentinel_link(asio::any_io_executor strand, node_address const& sentinel, std::string const& master, config const& settings,
                             std::function<void()> on_switched)
    : strand_{std::move(strand)},
      name_{sentinel.to_string()},
      settings_{sentinel, settings},
      greeting_{settings_.address, handshake::greeting_only{}},
      question_{sentinel_request(master)},
      subscription_{one_connection_only()},
      timer_{strand_},
      pause_{settings.min_reconnect_delay, settings.max_reconnect_delay},
      random_{std::random_device{}()},
      on_switched_{std::move(on_switched)},
      master_{master},
      pushes_{master}
{
    settings_.max_answer = max_sentinel_answer;
    subscription_.push("SUBSCRIBE", "+switch-master");
}

void sentinel_link::ask(report_handler handler)
{
    handler_ = std::move(handler);
    if (stopping_) return;
    if (!connection_) connect();
    else if (open_) send_question();
}

void sentinel_link::connect()
{
    timer_.cancel();
    pushes_ = switch_reader{master_};
    subscribed_ = subscribing_ = switched_ = asking_ = false;
    connection_ = std::make_shared<redis_connection>(strand_, settings_, greeting_);
    connection_->open(shared_from_this());
}

void sentinel_link::on_open(redis_connection&)
{
    open_ = true;
    send_question();
}

void sentinel_link::send_question()
{
    if (std::exchange(asking_, true)) return;
    struct question {
        sentinel_reader reader;
        node_sink sink;
    };
    auto const q = std::make_shared<question>();
    q->sink = [raw = q.get()](std::size_t call, node_view const& node) { raw->reader.on_node(call, node); };
    auto done = [self = shared_from_this(), q, from = connection_](error_code ec) {
        if (!ec && self->connection_ == from) self->answered(q->reader.conclude());
    };
    connection_->send(question_, q->sink, std::move(done));
}

void sentinel_link::answered(sentinel_report said)
{
    asking_ = false;
    pause_.reset();
    bool const is_sentinel = said.is != sentinel_report::outcome::no_sentinel;
    report(std::move(said));
    if (connection_ && open_ && is_sentinel && !stopping_) subscribe();
}

void sentinel_link::report(sentinel_report said)
{
    said.sentinel = name_;
    if (auto const handler = std::exchange(handler_, nullptr)) handler(std::move(said));
}

// Completes when it is written: the Sentinel confirms it with a push.
void sentinel_link::subscribe()
{
    if (forbidden_ || std::exchange(subscribed_, true)) return;
    subscribing_ = true;
    connection_->send(subscription_, no_sink_, [self = shared_from_this()](error_code) {});
}

void sentinel_link::on_push(redis_connection&, node_view const& node)
{
    auto const news = pushes_.on_node(node);
    if (news == switch_reader::news::subscribed) subscribing_ = false;
    if (news == switch_reader::news::switched) switched_ = true;
}

void sentinel_link::on_pushed(redis_connection&)
{
    if (std::exchange(switched_, false) && !stopping_) on_switched_();
}

void sentinel_link::on_closed(redis_connection&, error_code why, std::string const& words)
{
    connection_.reset();
    open_ = false;
    // A Sentinel that forbids the subscription answers with an error where no answer is expected, which ends the connection. Its answers to questions
    // are enough then.
    if (subscribing_ && why == errc::not_a_redis_server) forbidden_ = true;
    if (stopping_) {
        if (auto const stopped = std::exchange(stopped_, nullptr)) stopped();
        return;
    }
    sentinel_report said;
    said.problem = words.empty() ? why.message() : words;
    report(std::move(said));
    if (connection_ || stopping_) return;  // asked again meanwhile
    timer_.expires_after(pause_.next(random_));
    timer_.async_wait([self = shared_from_this()](error_code ec) {
        if (!ec && !self->stopping_ && !self->connection_) self->connect();
    });
}

void sentinel_link::stop(std::function<void()> stopped)
{
    stopping_ = true;
    handler_ = nullptr;
    on_switched_ = [] {};
    timer_.cancel();
    stopped_ = std::move(stopped);
    if (connection_) return connection_->close();
    asio::post(strand_, [self = shared_from_this()] {
        if (auto const done = std::exchange(self->stopped_, nullptr)) done();
    });
}

}  // namespace redlock::detail
