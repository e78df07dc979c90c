// An executor that stands in for asio::strand when at most one thread runs the io_context ("implicit strand" in Asio's terms). No two handlers can
// overlap there, so this strand needs no mutex, no queue and no reference count. It only answers running_in_this_thread(): whether the current
// handler was started through this strand. make_client_strand uses it for config::implicit_strand.
#ifndef REDLOCK_BASE_IMPLICIT_STRAND_HPP
#define REDLOCK_BASE_IMPLICIT_STRAND_HPP

#include <boost/asio/execution.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <cassert>
#include <list>
#include <mutex>
#include <type_traits>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// How many handlers of one strand are on the stack of the io_context's thread. Only that thread reads and writes it.
struct strand_depth {
    int depth{0};
};

// While it lives, the present handler counts as one of the strand with this depth. Null: it need not.
class strand_presence {
public:
    explicit strand_presence(strand_depth* in) noexcept : in_{in}
    {
        if (in_) ++in_->depth;
    }
    strand_presence(strand_presence const&) = delete;
    strand_presence& operator=(strand_presence const&) = delete;
    ~strand_presence()
    {
        if (in_) --in_->depth;
    }

private:
    strand_depth* in_;
};

// Owns the depths of all strands of an execution context. They live as long as the context, since handlers that wait in it may keep a strand.
class strand_depths final : public asio::execution_context::service {
public:
    inline static asio::execution_context::id id;

    explicit strand_depths(asio::execution_context& of) : service{of} {}

    strand_depth& add()
    {
        std::lock_guard const guard{mutex_};
        return all_.emplace_back();
    }

private:
    void shutdown() override {}

    std::mutex mutex_;
    std::list<strand_depth> all_;
};

// `Inner`: an executor of an io_context.
template <class Inner>
class implicit_strand {
public:
    implicit_strand(Inner inner, strand_depth& depth) noexcept : inner_{std::move(inner)}, depth_{&depth} {}

    Inner const& get_inner_executor() const noexcept { return inner_; }

    strand_depth& depth() const noexcept { return *depth_; }

    // Whether the caller is a handler of this strand. May be called from any thread: only the io_context's own thread gets as far as the depth.
    bool running_in_this_thread() const noexcept { return inner_.running_in_this_thread() && depth_->depth > 0; }

    template <class Function>
    void execute(Function&& f) const
    {
        inner_.execute([depth = depth_, f = std::forward<Function>(f)]() mutable {
            strand_presence const here{depth};
            std::move(f)();
        });
    }

    // The properties are those of the inner executor.
    template <class Property>
        requires(asio::can_query_v<Inner const&, Property>)
    decltype(auto) query(Property const& what) const noexcept
    {
        return asio::query(inner_, what);
    }
    template <class Property>
        requires(asio::can_require_v<Inner const&, Property>)
    auto require(Property const& what) const
    {
        return with(asio::require(inner_, what));
    }
    template <class Property>
        requires(asio::can_prefer_v<Inner const&, Property>)
    auto prefer(Property const& what) const
    {
        return with(asio::prefer(inner_, what));
    }

    friend bool operator==(implicit_strand const& a, implicit_strand const& b) noexcept
    {
        return a.depth_ == b.depth_ && a.inner_ == b.inner_;
    }

private:
    template <class Other>
    implicit_strand<Other> with(Other other) const
    {
        return {std::move(other), *depth_};
    }

    Inner inner_;
    strand_depth* depth_;
};

inline implicit_strand<asio::io_context::executor_type> make_implicit_strand(asio::io_context::executor_type const& of)
{
    return {of, asio::use_service<strand_depths>(of.context()).add()};
}

}  // namespace redlock::detail

#endif
