// The third baseline, after epoll_baseline.cpp and asio_baseline.cpp: the same callers over Boost.Redis, which is the least that a lock on Boost.Redis
// can cost. One connection a node that nobody looks after, one request for each turn of the loop, the same one for all nodes, and answers that nothing
// is made of but their count.
//
// The same with a coroutine for each caller, that is suspended once for its acquisition and once for its release: still no lock.
//
// And that with what a lock has to remember (lock_duties.hpp: votes, validity, timers, names), and with bounds on what servers send
// (connections_within_bounds). It still has no retry, no second round, no waiting callers, no nested leases, no events, no error, no cancellation and
// no other thread.
#include "baseline.hpp"
#include "lock_duties.hpp"
#include "processors.hpp"

#include "node/connection/boost_redis_compat.hpp"
#include "node/connection/bounded_connection.hpp"
#include "protocol/redis_request.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/redis/connection.hpp>
#include <boost/system/system_error.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

namespace detail = redlock::detail;
namespace redis = boost::redis;
using boost::system::error_code;
using redis::resp3::node_view;

// The words of a command behind its name, encoded. All of them stand in the place of the first, and no other is asked for: what
// Boost.Redis does to a word is done once a command.
struct piece {
    std::string_view bytes;
    friend void boost_redis_to_bulk(std::string& to, piece const& p) { to.append(p.bytes); }
};

struct piece_iterator {
    using iterator_category = std::random_access_iterator_tag;
    using value_type = piece;
    using difference_type = std::ptrdiff_t;
    using pointer = piece const*;
    using reference = piece;

    piece operator*() const noexcept { return {bytes}; }
    piece_iterator& operator++() noexcept
    {
        left = 0;
        return *this;
    }
    bool operator==(piece_iterator const& other) const noexcept { return left == other.left; }
    friend difference_type operator-(piece_iterator const& a, piece_iterator const& b) noexcept { return b.left - a.left; }

    std::string_view bytes;
    difference_type left;
};

// A connection of Boost.Redis as it is has no other way to turn Nagle's algorithm off. The library has streams of its own.
template <class Connection>
void send_without_delay(Connection& connection)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    connection.next_layer().lowest_layer().set_option(boost::asio::ip::tcp::no_delay{true});
#pragma GCC diagnostic pop
}

// What Boost.Redis tells of the answers of one node; small enough for std::function to keep it without allocating.
template <class Loop>
struct ear {
    Loop* loop;
    std::size_t node;

    void operator()(std::size_t, node_view const& said) const { loop->hear(node, said); }
    redis::any_adapter adapter() const { return detail::make_adapter(*this); }
};

void check(error_code ec)
{
    if (ec) throw boost::system::system_error{ec};
}

enum class callers_are : std::uint8_t { plain, coroutines, coroutines_with_duties };

// Connections of the baselines without duties: as Boost.Redis has them.
struct plain_connections {
    using type = redis::connection;

    template <class Executor>
    std::shared_ptr<type> make(Executor const& executor)
    {
        return detail::make_connection<type>(executor, asio::ssl::context{asio::ssl::context::tls_client});
    }
    void opened() noexcept {}
    void asked(redis::request const&) noexcept {}
    void answered(redis::request const&) noexcept {}
};

// Connections that a server cannot make allocate without end: what comes is held against bounds before Boost.Redis parses it.
struct connections_within_bounds {
    using type = detail::bounded_connection;

    template <class Executor>
    std::shared_ptr<type> make(Executor const& of_all)
    {
        auto& one = all.emplace_back();
        detail::bounded_executor const executor{of_all, {&one.bounds, &one.not_opened, &one.search, &one.stream}};
        return detail::make_connection<type>(executor, asio::ssl::context{asio::ssl::context::tls_client});
    }
    void opened() noexcept
    {
        for (auto& each : all) each.bounds.opened();
    }
    void asked(redis::request const& what) noexcept
    {
        for (auto& each : all) each.bounds.asked({what.payload().size(), what.get_expected_responses()});
    }
    void answered(redis::request const& what) noexcept
    {
        for (auto& each : all) each.bounds.answered({what.payload().size(), what.get_expected_responses()});
    }

    struct connection_state {
        detail::reply_bounds bounds;
        error_code not_opened;
        detail::address_choice choice;
        detail::address_search search{choice, [](std::size_t) {}};
        detail::stream_access stream;
    };
    std::deque<connection_state> all;
};

// All of it runs on `executor`: that of the io_context, or a strand of it.
template <class Connections, class Executor>
class boost_redis_loop {
public:
    boost_redis_loop(asio::io_context& io, Executor const& executor, workload const& what, meter& figures, callers_are kind)
        : io_{io}, executor_{executor}, callers_{what, figures}, missing_{what.at.size()}
    {
        refuse_tokens_and_rests(what, "the baseline over Boost.Redis");
        if (kind == callers_are::coroutines_with_duties) duties_.emplace(what);
        hello_.push("PING");
        for (std::uint16_t const port : what.at) connect(port);
    }

    /// Runs until every node has answered.
    void wait_for_nodes()
    {
        while (missing_ > 0) io_.run_one();
        connections_.opened();
    }

    void start()
    {
        callers_.start({});
        flush();
    }

    void start_coroutines()
    {
        waiting_.resize(callers_.size());
        callers_.on_granted([this](std::uint32_t who) {
            if (duties_) return duties_->complete(who);
            granted handler = std::move(*waiting_[who]);
            waiting_[who].reset();
            std::move(handler)();
        });
        for (std::size_t i = 0; i < callers_.size(); ++i)
            asio::co_spawn(executor_,
                           duties_ ? pairs_with_duties(static_cast<std::uint32_t>(i)) : pairs_without_lease(static_cast<std::uint32_t>(i)),
                           rethrow);
        asio::post(executor_, [this] { flush(); });
    }

    void hear(std::size_t node, node_view const& said)
    {
        if (missing_ > 0) return;  // the answer to hello_
        using redis::resp3::type;
        if (duties_ && (said.depth > 0 || said.data_type == type::array)) return duties_->on_time(node, said.depth, said.value);
        bool const ok = said.data_type == type::simple_string ? said.value == "OK" : said.data_type == type::number && said.value == "1";
        if (!ok) throw std::runtime_error{"a node refused what nobody else holds: " + std::string{said.value}};
        if (duties_) duties_->on_vote(node, callers_.heard(node));
        callers_.hear_grant(node);
        if (!callers_.has_outgoing() || std::exchange(flush_posted_, true)) return;
        asio::post(executor_, [this] {  // behind what is ready to be read now
            flush_posted_ = false;
            flush();
        });
    }

private:
    using granted = asio::async_result<asio::use_awaitable_t<>, void()>::handler_type;

    // A request that some nodes have not answered yet.
    struct turn {
        redis::request request{detail::one_connection_only()};
        std::size_t missing{0};
    };

    void connect(std::uint16_t port)
    {
        redis::config settings;
        settings.addr = {"127.0.0.1", std::to_string(port)};
        settings.health_check_interval = 0s;
        settings.reconnect_wait_interval = 0s;
        auto const connection = connections_.make(executor_);
        detail::run_connection(*connection, settings, [](error_code ec) { check(ec ? ec : asio::error::eof); });
        ears_.push_back({this, ears_.size()});
        connection->async_exec(hello_, ears_.back().adapter(), [this, connection](error_code ec, std::size_t) {
            check(ec);
            send_without_delay(*connection);
            --missing_;
        });
        nodes_.push_back(connection);
    }

    void flush()
    {
        if (!callers_.has_outgoing()) return;
        turn* const t = free_turn();
        if (duties_) duties_->sent();
        t->request.clear();
        std::string_view const bytes = callers_.outgoing(0);
        auto const& commands = callers_.outgoing_commands();
        for (std::size_t i = 0; i < commands.size(); ++i) {
            prepared const& what = *commands[i].what;
            std::string_view const words = bytes.substr(commands[i].begin + what.words_at, what.bytes.size() - what.words_at);
            t->request.push_range(what.name, piece_iterator{words, static_cast<std::ptrdiff_t>(what.words)}, piece_iterator{words, 0});
        }
        callers_.sent();
        if (duties_) return ask_with_duties(t);
        t->missing = nodes_.size();
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            nodes_[i]->async_exec(t->request, ears_[i].adapter(), [this, t](error_code ec, std::size_t) {
                check(ec);
                if (--t->missing == 0) free_.push_back(t);
            });
    }

    // Each message asks for the node's time, behind its votes; and the nodes are asked as one operation.
    void ask_with_duties(turn* t)
    {
        t->request.push("TIME");
        connections_.asked(t->request);
        using operation = decltype(nodes_.front()->async_exec(t->request, ears_.front().adapter(), asio::deferred));
        std::vector<operation> all;
        all.reserve(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i)
            all.push_back(nodes_[i]->async_exec(t->request, ears_[i].adapter(), asio::deferred));
        auto answered = [this, t](auto const& /* the order */, auto const& errors, auto const& /* bytes */) {
            for (error_code const& ec : errors) check(ec);
            connections_.answered(t->request);
            free_.push_back(t);
        };
        asio::experimental::make_parallel_group(std::allocator_arg, detail::recycling<void>{}, std::move(all))
            .async_wait(asio::experimental::wait_for_all(), std::move(answered));
    }

    turn* free_turn()
    {
        if (free_.empty()) return &turns_.emplace_back();
        turn* const t = free_.back();
        free_.pop_back();
        return t;
    }

    auto majority_for(std::uint32_t who)
    {
        auto keep = [this, who](granted handler) { waiting_[who].emplace(std::move(handler)); };
        return asio::async_initiate<asio::use_awaitable_t<> const, void()>(std::move(keep), asio::use_awaitable);
    }

    asio::awaitable<void> pairs_without_lease(std::uint32_t who)
    {
        for (;;) {
            callers_.acquire(who);
            auto acquired = majority_for(who);
            co_await std::move(acquired);
            callers_.release(who);
            auto released = majority_for(who);
            co_await std::move(released);
        }
    }

    asio::awaitable<void> pairs_with_duties(std::uint32_t who)
    {
        for (;;) {
            callers_.acquire(who);
            auto acquired = [this, who](auto handler) { duties_->acquire(who, std::move(handler)); };
            auto asked = asio::async_initiate<asio::use_awaitable_t<> const, void(error_code, lock_duties::lease)>(acquired,
                                                                                                                   asio::use_awaitable);
            auto held = co_await std::move(asked);
            callers_.release(who);
            auto released = [this, &held](auto handler) { duties_->release(std::move(held), std::move(handler)); };
            auto given_back = asio::async_initiate<asio::use_awaitable_t<> const, void(error_code)>(released, asio::use_awaitable);
            co_await std::move(given_back);
        }
    }

    asio::io_context& io_;
    Executor executor_;
    baseline_callers callers_;
    std::optional<lock_duties> duties_;
    std::size_t missing_;
    redis::request hello_{detail::one_connection_only()};
    Connections connections_;
    std::vector<ear<boost_redis_loop>> ears_;
    std::vector<std::shared_ptr<typename Connections::type>> nodes_;
    std::deque<turn> turns_;
    std::vector<turn*> free_;
    std::vector<std::optional<granted>> waiting_;
    bool flush_posted_{false};
};

template <class Connections>
sample run_over_boost_redis(workload const& what, callers_are kind)
{
    meter figures;
    asio::io_context io{1};
    boost_redis_loop<Connections, asio::io_context::executor_type> loop{io, io.get_executor(), what, figures, kind};
    loop.wait_for_nodes();
    kind == callers_are::plain ? loop.start() : loop.start_coroutines();
    if (what.in_step) {
        measure_in_step(what, figures, [&] { io.poll(); });
        return figures.end();
    }
    run_for(io, what.warm_up);
    if (what.at_begin) what.at_begin();
    figures.begin();
    measure(io, what, figures);
    return figures.end();
}

// Callers and connections in one strand, which any of the threads may run.
sample run_coroutines_in_threads(workload const& what)
{
    use_all_processors();
    meter figures;
    asio::io_context io{static_cast<int>(what.threads)};
    using strand = asio::strand<asio::io_context::executor_type>;
    boost_redis_loop<plain_connections, strand> loop{io, asio::make_strand(io), what, figures, callers_are::coroutines};
    loop.wait_for_nodes();
    loop.start_coroutines();
    run_in_threads(io, what.warm_up, what.threads);
    figures.begin();
    run_in_threads(io, what.measured, what.threads);
    return figures.end();
}

}  // namespace

sample run_boost_redis_baseline(workload const& what) { return run_over_boost_redis<plain_connections>(what, callers_are::plain); }
sample run_coroutines_baseline(workload const& what)
{
    if (what.threads > 1) return run_coroutines_in_threads(what);
    return run_over_boost_redis<plain_connections>(what, callers_are::coroutines);
}
sample run_duties_baseline(workload const& what)
{
    return run_over_boost_redis<connections_within_bounds>(what, callers_are::coroutines_with_duties);
}

}  // namespace bench
