// What a round costs that is an experimental::make_parallel_group of one operation a node, and one that counts by hand.
//
// The operations are in memory: each completes by a post to the strand, with its handler erased as core/fanout.cpp does it. So this is
// the cost of the engine alone, without any socket.
#include "round_engine.hpp"

#include "allocations.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <memory>
#include <utility>

namespace bench {

namespace {

using strand_type = asio::any_io_executor;
using answered = asio::any_completion_handler<void(redlock::error_code)>;

class node_in_memory {
public:
    using executor_type = strand_type;

    node_in_memory(strand_type strand, std::size_t& votes) : strand_{std::move(strand)}, votes_{&votes} {}

    executor_type get_executor() const noexcept { return strand_; }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        exec(answered{std::forward<Handler>(handler)});
    }

    void exec(answered then) const
    {
        asio::post(strand_, [votes = votes_, then = std::move(then)]() mutable {
            ++*votes;
            std::move(then)(redlock::error_code{});
        });
    }

private:
    strand_type strand_;
    std::size_t* votes_;
};

// Rounds one after the other, until the time is over.
class series {
public:
    series(bool group, std::size_t nodes, steady::duration time)
        : group_{group}, strand_{asio::make_strand(asio::any_io_executor{io_.get_executor()})}, end_{steady::now() + time}
    {
        for (std::size_t i = 0; i < nodes; ++i) nodes_.emplace_back(strand_, votes_);
    }

    round_cost run()
    {
        asio::post(strand_, [this] { next(); });
        auto const before = cpu_used();
        auto const allocated = allocations();
        auto const began = steady::now();
        io_.run();
        auto const used = cpu_used();
        auto const count = static_cast<double>(rounds_);
        if (votes_ != rounds_ * nodes_.size()) throw std::runtime_error{"a round ended without its votes"};
        return {(used.user_us + used.system_us - before.user_us - before.system_us) / count,
                std::chrono::duration<double, std::micro>{steady::now() - began}.count() / count,
                static_cast<double>(allocations() - allocated) / count};
    }

private:
    void next()
    {
        if (rounds_ % 256 == 0 && steady::now() >= end_) return;
        if (group_) {
            start_group();
        } else {
            start_by_hand();
        }
    }

    void over()
    {
        ++rounds_;
        next();
    }

    void start_group()
    {
        auto start_part = [&](std::size_t i) {
            return asio::async_initiate<asio::deferred_t const&, void(redlock::error_code)>(nodes_[i], asio::deferred);
        };
        std::vector<decltype(start_part(0))> parts;
        parts.reserve(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) parts.push_back(start_part(i));
        asio::experimental::make_parallel_group(std::move(parts))
            .async_wait(asio::experimental::wait_for_all(),
                        asio::bind_executor(strand_,
                                            [this](std::vector<std::size_t> const&, std::vector<redlock::error_code> const&) { over(); }));
    }

    void start_by_hand()
    {
        auto const missing = std::make_shared<std::size_t>(nodes_.size());
        for (node_in_memory const& n : nodes_)
            n.exec([this, missing](redlock::error_code) {
                if (--*missing == 0) over();
            });
    }

    bool group_;
    asio::io_context io_{1};
    strand_type strand_;
    steady::time_point end_;
    std::size_t votes_{0};
    std::uint64_t rounds_{0};
    std::vector<node_in_memory> nodes_;
};

}  // namespace

round_cost cost_of_round(engine which, std::size_t nodes, steady::duration measured_for)
{
    bool const group = which == engine::parallel_group;
    series{group, nodes, measured_for / 10}.run();
    return series{group, nodes, measured_for}.run();
}

}  // namespace bench
