// A strand where nothing can run at the same time anyhow: one thread at most runs the io_context ("implicit strand" in Asio's words). It only
// knows whether somebody is in it, without a mutex, a queue, or a count of those who have it.
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

// How deep its thread is in a strand. Read and written by that thread only.
struct strand_depth {
    int depth{0};
};

// Those of a context. They live as long as it does: a strand may be kept by anything that waits there.
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
    implicit_strand(Inner inner, strand_depth& in) noexcept : inner_{std::move(inner)}, in_{&in} {}

    Inner const& get_inner_executor() const noexcept { return inner_; }

    // Any thread.
    bool running_in_this_thread() const noexcept { return inner_.running_in_this_thread() && in_->depth > 0; }

    template <class Function>
    void execute(Function&& f) const
    {
        inner_.execute([in = in_, f = std::forward<Function>(f)]() mutable {
            visit const here{*in};
            std::move(f)();
        });
    }

    // All properties are those of the executor inside.
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

    friend bool operator==(implicit_strand const& a, implicit_strand const& b) noexcept { return a.in_ == b.in_ && a.inner_ == b.inner_; }

private:
    struct visit {
        explicit visit(strand_depth& to) noexcept : in{to} { ++in.depth; }
        visit(visit const&) = delete;
        visit& operator=(visit const&) = delete;
        ~visit() { --in.depth; }
        strand_depth& in;
    };

    template <class Other>
    implicit_strand<Other> with(Other other) const
    {
        return {std::move(other), *in_};
    }

    Inner inner_;
    strand_depth* in_;
};

inline implicit_strand<asio::io_context::executor_type> make_implicit_strand(asio::io_context::executor_type const& of)
{
    return {of, asio::use_service<strand_depths>(of.context()).add()};
}

}  // namespace redlock::detail

#endif
