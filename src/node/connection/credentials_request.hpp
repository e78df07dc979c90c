// One call of config::credentials: it ends once, at the latest after a time limit. Lives in the client's strand.
#ifndef REDLOCK_NODE_CONNECTION_CREDENTIALS_REQUEST_HPP
#define REDLOCK_NODE_CONNECTION_CREDENTIALS_REQUEST_HPP

#include <redlock/config.hpp>
#include <redlock/credentials.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <string>

namespace redlock::detail {

class credentials_request final : public std::enable_shared_from_this<credentials_request> {
public:
    // Why there are no credentials, in words; empty: there are.
    using result_handler = std::function<void(std::string const& why_not, credentials const& got)>;

    credentials_request(asio::any_io_executor strand, result_handler handler);

    // Calls `ask`. The handler is called in the strand, and never inside start().
    void start(credentials_function const& ask, node_address const& node, std::chrono::steady_clock::duration limit);

    // The handler is not called any more, and the operation that `ask` started is cancelled. It may end whenever it likes.
    void cancel();

private:
    void complete_later(std::exception_ptr failure, credentials got);
    void complete(std::exception_ptr const& failure, credentials const& got);
    void give_up();
    void finish(std::string const& why_not, credentials const& got);

    asio::any_io_executor strand_;
    asio::steady_timer timer_;
    asio::cancellation_signal signal_;  // lives as long as the operation, whose handler keeps this object
    result_handler handler_;  // none: it is over
};

}  // namespace redlock::detail

#endif
