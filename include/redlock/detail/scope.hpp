// What runs inside with_lock, as far as it depends on the type of the body.
#ifndef REDLOCK_DETAIL_SCOPE_HPP
#define REDLOCK_DETAIL_SCOPE_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

namespace redlock::detail {

template <class T>
struct awaited;
template <class T, class Executor>
struct awaited<asio::awaitable<T, Executor>> {
    static_assert(
        std::is_same_v<Executor, asio::any_io_executor>,
        "the body has to return an asio::awaitable<T>, whose executor is an asio::any_io_executor: it runs on a strand of its own. A "
        "coroutine with another executor type can be awaited in it by asio::co_spawn");
    using type = T;
};

template <class Body, class Argument>
using scope_result_t = typename awaited<std::invoke_result_t<Body&, Argument>>::type;

template <class Body, class Argument>
concept scope_body = std::invocable<Body&, Argument> && requires { typename scope_result_t<Body, Argument>; } &&
                     !std::is_reference_v<scope_result_t<Body, Argument>>;

// g++ before 13 destroys a temporary lambda with captures twice inside a co_await expression (GCC's bug 99576), and nobody can tell the type of
// a temporary from that of something that was moved from a name.
template <class Body>
constexpr void require_named_body() noexcept
{
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    static_assert(std::is_lvalue_reference_v<Body> || std::is_trivially_destructible_v<Body>,
                  "g++ before 13 destroys a temporary lambda with captures twice inside a co_await expression: give the body a name, "
                  "`auto body = [...](redlock::lease&) -> asio::awaitable<void> {...};`, and pass `body` (which copies it) or "
                  "`std::ref(body)`, neither the lambda itself nor `std::move(body)`");
#endif
}

// The work of a scope. The coroutines around it are compiled once, in the library.
class scope_work {
public:
    virtual asio::awaitable<void> run(lease& held) = 0;

protected:
    scope_work() = default;
    scope_work(scope_work const&) = default;
    scope_work& operator=(scope_work const&) = default;
    ~scope_work() = default;
};

// co_spawn hands over results by way of default-constructed ones; so the result stays here, in the frame of with_lock.
template <class Body, class T = scope_result_t<Body, lease&>>
class body_of_scope final : public scope_work {
public:
    explicit body_of_scope(Body body) : body_{std::move(body)} {}

    asio::awaitable<void> run(lease& held) override
    {
        auto running = std::invoke(body_, held);
        value_.emplace(co_await std::move(running));
    }

    T take() { return std::move(*value_); }

private:
    Body body_;
    std::optional<T> value_;
};
template <class Body>
class body_of_scope<Body, void> final : public scope_work {
public:
    explicit body_of_scope(Body body) : body_{std::move(body)} {}

    asio::awaitable<void> run(lease& held) override { return std::invoke(body_, held); }

    void take() {}

private:
    Body body_;
};

// Acquires, runs the work beside a watch over the lease, and releases. Fills the report if there is one.
REDLOCK_API asio::awaitable<void> run_scope(lock resource, attempt_report* report, scope_work& work);

template <class Body>
asio::awaitable<scope_result_t<Body, lease&>> run_with_lock(lock resource, attempt_report* report, Body body)
{
    body_of_scope<Body> work{std::move(body)};
    auto scope = run_scope(std::move(resource), report, work);
    co_await std::move(scope);
    co_return work.take();
}

}  // namespace redlock::detail

#endif
