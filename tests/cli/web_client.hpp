// Speaks HTTP to redlock dashboard as a test wants it: byte by byte, if need be.
#ifndef REDLOCK_TESTS_CLI_WEB_CLIENT_HPP
#define REDLOCK_TESTS_CLI_WEB_CLIENT_HPP

#include "program.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace redlock::testing {

// A connection to a port of this machine.
class web_connection {
public:
    explicit web_connection(std::uint16_t port);
    web_connection(web_connection const&) = delete;
    web_connection& operator=(web_connection const&) = delete;
    ~web_connection();

    void send(std::string const& text) const;
    // All that arrives until the other end closes, for ten seconds at most; with `until` only as much as has that in it.
    std::string receive(std::string const& until = {});

private:
    int fd_;
};

struct web_reply {
    int status{0};
    std::string head;  // with the status line
    std::string body;
};

// A dashboard that has said where it is.
class dashboard_program {
public:
    // `redlock dashboard --listen 127.0.0.1:0 ...`.
    explicit dashboard_program(program_options const& options, arguments const& more = {});

    std::uint16_t port() const noexcept { return port_; }
    program& process() noexcept { return program_; }

    web_reply ask(std::string const& request) const;
    // `more`: further lines of the header, each with its end.
    web_reply get(std::string const& target, std::string const& more = {}) const;
    nlohmann::json status() const { return nlohmann::json::parse(get("/api/status.json").body); }

private:
    program program_;
    std::uint16_t port_{0};
};

}  // namespace redlock::testing

#endif
