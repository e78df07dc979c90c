#include "node/cluster/cluster_question.hpp"

#include "protocol/redis_replies.hpp"
#include "protocol/redis_request.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_words.hpp"

#include <charconv>
#include <utility>

namespace redlock::detail {

using boost::redis::resp3::node_view;

namespace {

// The largest clusters have a line of about 200 bytes for each of 1,000 servers, and some more for each range of slots.
constexpr std::size_t max_cluster_answer = 1'048'576;

// The calls of the request, in order.
enum cluster_call : std::size_t { map_call, keep_call, kept_call, wait_call };

}  // namespace

cluster_question::cluster_question(asio::any_io_executor strand, node_address const& server, config const& settings,
                                   std::optional<shards_to_keep> keep, std::shared_ptr<tls_files> files)
    : strand_{std::move(strand)},
      name_{server.to_string()},
      host_{server.host},
      keep_{keep},
      settings_{server, settings, std::move(files)},
      greeting_{settings_.address, handshake::greeting_only{}},
      login_{std::make_shared<node_login>(strand_, server, settings)},
      request_{one_connection_only()},
      timer_{strand_}
{
    settings_.max_answer = max_cluster_answer;
    request_.push("CLUSTER", "NODES");
    if (keep_) {
        request_.push("SET", cluster_shards_key, std::to_string(keep_->shards), "NX");
        request_.push("GET", cluster_shards_key);
        request_.push("WAIT", std::to_string(keep_->replicas), std::to_string(settings.replication_timeout.count()));
    }
    sink_ = [this](std::size_t call, node_view const& node) { on_node(call, node); };
}

void cluster_question::ask(handler done)
{
    done_ = std::move(done);
    if (!login_->asks()) return connect();
    login_->obtain([weak = weak_from_this()](std::string const& why_not, credentials const& got) {
        auto const self = weak.lock();
        if (!self || !self->done_) return;
        if (!why_not.empty()) return self->finish({errc::credentials_unavailable, why_not});
        self->settings_.address.username = got.username;
        self->settings_.address.password = got.password;
        self->connect();
    });
}

// Its answer may come when it is too late.
void cluster_question::ask_over(redis_node& open, handler done)
{
    done_ = std::move(done);
    limit();
    open.ask(request_, sink_, max_cluster_answer, [self = shared_from_this()](error_code ec) {
        if (!self->done_) return;
        ec ? self->finish({errc::node_unreachable, "the connection was lost"}) : self->conclude();
    });
}

void cluster_question::limit()
{
    timer_.expires_after(settings_.connect_timeout);
    timer_.async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) self->finish({errc::node_timeout, "no answer within connect_timeout"});
    });
}

void cluster_question::connect()
{
    limit();
    connection_ = std::make_shared<redis_connection>(strand_, settings_, greeting_);
    connection_->open(shared_from_this());
}

void cluster_question::on_open(redis_connection&)
{
    connection_->send(request_, sink_, [self = shared_from_this()](error_code ec) {
        if (!ec) self->conclude();
    });
}

void cluster_question::on_node(std::size_t call, node_view const& node)
{
    if (node.depth > 0) return;
    if (is_error(node)) return void((call == map_call ? error_ : answer_.shards_error) = node.value);
    if (call == map_call) text_ = node.value;
    if (call == kept_call) answer_.shards_kept = words_of_server(node.value);
    if (call == wait_call) std::from_chars(node.value.data(), node.value.data() + node.value.size(), acknowledged_);
}

void cluster_question::conclude()
{
    if (error_.find("cluster support disabled") != error_.npos) return finish({errc::node_unsuitable, no_cluster_here()});
    if (error_.starts_with("NOPERM"))
        return finish({errc::server_error, error_ + "; allow +cluster|nodes to the user, who needs it to find the servers"});
    if (!error_.empty()) return finish({errc::server_error, error_});
    auto map = read_cluster_nodes(text_, host_);
    if (!map) return finish({errc::unexpected_reply, "CLUSTER NODES was answered with something else"});
    answer_.map = std::move(*map);
    if (keep_ && answer_.shards_error.empty() && acknowledged_ < keep_->replicas)
        answer_.shards_error = std::to_string(acknowledged_) + " of " + std::to_string(keep_->replicas) + " replicas acknowledged";
    if (!answer_.shards_error.empty()) answer_.shards_kept.clear();
    finish(std::move(answer_));
}

void cluster_question::on_closed(redis_connection&, error_code why, std::string const& words)
{
    connection_.reset();
    finish({why, words.empty() ? why.message() : words});
}

void cluster_question::finish(cluster_answer answer)
{
    timer_.cancel();
    login_->stop();
    if (connection_) connection_->close();
    if (auto const done = std::exchange(done_, nullptr)) done(std::move(answer));
}

void cluster_question::stop()
{
    done_ = nullptr;
    finish({});
}

}  // namespace redlock::detail
