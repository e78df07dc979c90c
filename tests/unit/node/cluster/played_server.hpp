// A server that a test plays itself, on loopback and in the test's own loop: a function says what it answers to each command.
#ifndef REDLOCK_TESTS_UNIT_REDIS_PLAYED_SERVER_HPP
#define REDLOCK_TESTS_UNIT_REDIS_PLAYED_SERVER_HPP

#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::testing {

namespace asio = boost::asio;

class played_server {
public:
    using words = std::vector<std::string>;
    using player = std::function<std::string(words const& command)>;

    played_server(asio::io_context& io, player plays);
    played_server(played_server const&) = delete;
    played_server& operator=(played_server const&) = delete;
    ~played_server();

    std::uint16_t port() const;

    /// Connections since the beginning.
    std::size_t accepted() const;

    /// Commands since the beginning that start with this word.
    std::size_t heard(std::string_view word) const;

    /// To all that are connected.
    void push(std::string_view bytes);

    void drop_connections();

    /// Closes all connections, and takes no more.
    void vanish();

private:
    struct state;
    std::shared_ptr<state> state_;
};

/// Parts of answers.
std::string text(std::string_view value);
std::string list(std::vector<std::string> const& elements);
std::string map(std::vector<std::pair<std::string, std::string>> const& fields);

/// What a Redis server is asked before it can be a node.
struct played_redis {
    std::string run_id;
    std::string mode{"standalone"};
    std::size_t replicas{2};
    std::string record{};  ///< Of the admission.
    std::string error_of_inspection{};  ///< Instead of the facts.
    std::string error_of_scripts{};  ///< Of others than the inspection.

    std::string answer(played_server::words const& command) const;
};

}  // namespace redlock::testing

#endif
