// The type of our connections, which read within bounds (bounded_stream.hpp), and requests over them. Slow to compile: only for what talks to servers
// itself.
#ifndef REDLOCK_REDIS_BOUNDED_CONNECTION_HPP
#define REDLOCK_REDIS_BOUNDED_CONNECTION_HPP

#include "redis/boost_redis_compat.hpp"
#include "redis/bounded_stream.hpp"

#include <boost/asio/any_completion_executor.hpp>
#include <boost/redis/connection.hpp>

#include <utility>

namespace redlock::detail {

class bounded_connection final : public redis::basic_connection<bounded_executor> {
public:
    using basic_connection::basic_connection;
};

// The executor of a handler, as small as a pointer. Boost.Redis and its channel copy it a dozen times a request, and each copy of a type-erased one is a
// call. Does not count as work: async_run does, as long as requests can be answered.
class borrowed_executor {
public:
    explicit borrowed_executor(asio::any_completion_executor const* to) noexcept : to_{to} {}

    template <class F>
    void execute(F&& f) const
    {
        to_->execute(std::forward<F>(f));
    }
    friend bool operator==(borrowed_executor const&, borrowed_executor const&) noexcept = default;

private:
    asio::any_completion_executor const* to_;
};

}  // namespace redlock::detail

#endif
