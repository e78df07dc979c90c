#include "cli/servers/node_link.hpp"

#include "base/strand.hpp"
#include "cli/output/text.hpp"
#include "node/cluster/cluster_question.hpp"
#include "node/connection/node_address.hpp"
#include "node/connection/redis_connection.hpp"
#include "node/sentinel/group_node.hpp"
#include "protocol/redis_request.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <charconv>
#include <list>
#include <utility>

namespace redlock::cli {

using namespace redlock::detail;
using boost::redis::resp3::node_view;
using boost::redis::resp3::type;
using steady = std::chrono::steady_clock;

std::int64_t reply::number(std::int64_t otherwise) const
{
    if (type != kind::integer && type != kind::text) return otherwise;
    std::int64_t value{0};
    auto const end = text.data() + text.size();
    auto const [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end && !text.empty() ? value : otherwise;
}

namespace {

// An answer may be the value of a key that is no lock. Of longer lists than any that is asked for, the beginning is enough.
constexpr std::size_t max_answer = 1'048'576;
constexpr std::size_t max_pieces = 10'000;

// Not that of a client which wants locks: doctor takes those with its name for clients that wait for an admission.
config with_own_name(config settings)
{
    settings.client_name = "redlock-command";
    return settings;
}

reply leaf(node_view const& node)
{
    reply r;
    r.text = node.value;
    switch (node.data_type) {
    case type::null: r.type = reply::kind::nil; break;
    case type::number: r.type = reply::kind::integer; break;
    case type::simple_error:
    case type::blob_error: r.type = reply::kind::error; break;
    case type::array:
    case type::map:
    case type::set:
    case type::push:
    case type::attribute: r.type = reply::kind::list; break;
    default: r.type = reply::kind::text;
    }
    // "txt:" before what is meant for people.
    if (node.data_type == type::verbatim_string && r.text.size() >= 4 && r.text[3] == ':') r.text.erase(0, 4);
    return r;
}

// Pieces come in the order of the text, each with its depth.
void add(std::vector<reply>& replies, std::size_t call, node_view const& node)
{
    if (replies.size() <= call) replies.resize(call + 1);
    if (node.depth == 0) {
        replies[call] = leaf(node);
        return;
    }
    reply* parent = &replies[call];
    for (std::size_t depth = 1; depth < node.depth && !parent->items.empty(); ++depth) parent = &parent->items.back();
    parent->items.push_back(leaf(node));
}

void add_command(boost::redis::request& to, words const& command)
{
    if (command.size() == 1) return to.push(command.front());
    to.push_range(command.front(), command.begin() + 1, command.end());  // which adds nothing for an empty range
}

}  // namespace

class node_link::session final : public connection_owner, public std::enable_shared_from_this<session> {
public:
    session(asio::any_io_executor executor, node_address const& address, config const& settings)
        : strand_{make_client_strand(executor)}, settings_{address, settings}, asks_{address, handshake::greeting_only{}}
    {
        settings_.max_answer = max_answer;
        if (address.sentinel || address.cluster) indirect_ = std::make_unique<indirect_node>(indirect_node{address, settings});
    }

    void ask(std::vector<words> const& commands, std::chrono::milliseconds patience, handler done)
    {
        auto const q = std::make_shared<question>(strand_);
        for (words const& w : commands) add_command(q->request, w);
        q->calls = commands.size();
        q->patience = patience;
        q->done = std::move(done);
        q->sink = [raw = q.get()](std::size_t call, node_view const& node) {
            if (++raw->pieces <= max_pieces) add(raw->result.replies, call, node);
        };
        open_questions_.push_back(q);
        if (connected_) return send(q);
        if (connection_ || finder_ || cluster_question_) return;
        if (!indirect_) return connect();
        indirect_->address.cluster ? ask_cluster(0) : find_primary();
    }

    void close()
    {
        if (connection_) connection_->close();
        if (!finder_ && !cluster_question_) return;
        if (auto const asked = std::exchange(finder_, nullptr)) asked->stop([] {});
        if (auto const asked = std::exchange(cluster_question_, nullptr)) asked->stop();
        fail(errc::node_unreachable, "the search for the primary was ended");
    }

    primary_finder::result const& group() const noexcept { return found_; }

    void on_open(redis_connection&) override
    {
        connected_ = true;
        for (auto const& q : open_questions_) send(q);
    }

    void on_closed(redis_connection&, error_code why, std::string const& said) override
    {
        bool const too_late = !std::exchange(connected_, false) && why == errc::node_timeout;
        std::string problem = said.empty() ? why.message() : said;
        if (too_late) problem = "no connection within " + in_words(settings_.connect_timeout);
        connection_.reset();
        if (indirect_) problem = host_and_port(settings_.address.host, settings_.address.port) + ": " + problem;
        fail(why, problem);
    }

    void on_push(redis_connection&, node_view const&) override {}
    void on_pushed(redis_connection&) override {}
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

private:
    struct question {
        explicit question(redis_connection::strand_type const& strand) : timer{strand} {}

        boost::redis::request request{one_connection_only()};
        std::size_t calls{0};
        std::size_t pieces{0};
        node_sink sink;
        std::chrono::milliseconds patience{};
        asio::steady_timer timer;
        steady::time_point sent{};
        answers result;
        handler done;
    };

    void connect()
    {
        connection_ = std::make_shared<redis_connection>(strand_, settings_, asks_);
        connection_->open(shared_from_this());
    }

    void find_primary()
    {
        finder_ = std::make_shared<primary_finder>(strand_, indirect_->address, indirect_->settings, [] {});
        finder_->find({}, [self = shared_from_this()](primary_finder::result const& found) {
            self->found_ = found;
            std::exchange(self->finder_, nullptr)->stop([] {});
            if (found.choice.candidates.empty()) return self->fail(found.choice.why, found.choice.words);
            auto const& primary = found.choice.candidates.front().primary;
            self->connect_to(server_of(self->indirect_->address, primary.host, primary.port, 0));
        });
    }

    // One server after the other, until one answers.
    void ask_cluster(std::size_t turn)
    {
        node_address server = completed(indirect_->address, indirect_->settings.tls);
        auto const seeds = std::exchange(server.cluster, std::nullopt)->addresses;
        server.host = seeds[turn].host;
        server.port = seeds[turn].port;
        cluster_question_ = std::make_shared<cluster_question>(strand_, server, indirect_->settings, std::nullopt);
        cluster_question_->ask([self = shared_from_this(), turn, last = turn + 1 == seeds.size()](cluster_answer const& answer) {
            self->cluster_question_.reset();
            if (answer.why && !last) return self->ask_cluster(turn + 1);
            if (answer.why) return self->fail(answer.why, answer.words);
            self->connect_to_owner(answer.map);
        });
    }

    void connect_to_owner(cluster_map const& map)
    {
        auto const slot = slot_of_shard(indirect_->settings.place->shard);
        auto const* const owner = map.owner_of(slot);
        if (owner == nullptr || owner->host.empty())
            return fail(errc::node_unsuitable, "no server of the cluster serves slot " + std::to_string(slot));
        node_address address = completed(indirect_->address, indirect_->settings.tls);
        address.cluster.reset();
        address.host = address.tls && !owner->name.empty() ? owner->name : owner->host;
        address.port = owner->port;
        connect_to(address);
    }

    void connect_to(node_address const& server)
    {
        settings_ = connection_settings{server, indirect_->settings};
        settings_.max_answer = max_answer;
        asks_ = handshake{settings_.address, handshake::greeting_only{}};
        connect();
    }

    void fail(error_code why, std::string const& problem)
    {
        for (auto const& q : std::exchange(open_questions_, {})) finish(*q, why, problem);
    }

    void send(std::shared_ptr<question> const& q)
    {
        q->sent = steady::now();  // in this order: the process may have to wait for a processor between any two lines
        q->result.asked = std::chrono::system_clock::now().time_since_epoch();
        q->timer.expires_after(q->patience);
        q->timer.async_wait([self = shared_from_this(), q](error_code ec) {
            if (ec || !q->done) return;
            self->finish(*q, errc::node_timeout, "no answer within " + in_words(q->patience));
            self->close();
        });
        // When the connection ends first, on_closed() follows and says why.
        connection_->send(q->request, q->sink, [self = shared_from_this(), q](error_code ec) {
            if (ec || !q->done) return;
            q->result.took = steady::now() - q->sent;
            q->result.replies.resize(q->calls);
            self->open_questions_.remove(q);
            if (auto const away = self->redirection_among(q->result.replies); !away.empty()) {
                self->finish(*q, errc::server_error, explained(away));
                return self->close();  // the next question looks for the shard anew
            }
            self->finish(*q, {}, "");
        });
    }

    // The error of a server of a cluster that does not serve the shard any more; empty: there is none.
    std::string redirection_among(std::vector<reply> const& replies) const
    {
        if (!indirect_ || !indirect_->address.cluster) return {};
        auto const at = std::find_if(replies.begin(), replies.end(),
                                     [](reply const& r) { return r.is_error() && redirection_in(r.text) != redirection::none; });
        return at == replies.end() ? std::string{} : at->text;
    }

    void finish(question& q, error_code why, std::string const& problem)
    {
        q.timer.cancel();
        auto const done = std::exchange(q.done, nullptr);
        if (!done) return;
        q.result.why = why;
        q.result.problem = problem;
        if (why) q.result.replies.clear();
        done(std::move(q.result));
    }

    redis_connection::strand_type strand_;
    connection_settings settings_;
    handshake asks_;
    struct indirect_node {
        node_address address;
        config settings;
    };
    std::unique_ptr<indirect_node> indirect_;  // a group or a Redis Cluster, which says what server to ask; none: the node is one server
    std::shared_ptr<primary_finder> finder_;  // none: nobody is searching for the primary of a group
    std::shared_ptr<cluster_question> cluster_question_;  // none: no server of a cluster is being asked
    primary_finder::result found_;
    std::shared_ptr<redis_connection> connection_;
    bool connected_{false};
    std::list<std::shared_ptr<question>> open_questions_;
};

node_link::node_link(asio::any_io_executor executor, node_address const& address, config const& settings)
    : session_{std::make_shared<session>(std::move(executor), address, with_own_name(settings))}
{
}

node_link::~node_link()
{
    if (session_) session_->close();
}

void node_link::ask(std::vector<words> const& commands, std::chrono::milliseconds patience, handler done)
{
    session_->ask(commands, patience, std::move(done));
}

void node_link::close() { session_->close(); }

primary_finder::result const& node_link::group() const noexcept { return session_->group(); }

}  // namespace redlock::cli
