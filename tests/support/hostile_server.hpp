// A server that does harm with what it sends, from its first word or only after it was a good one for a while.
#ifndef REDLOCK_TESTS_SUPPORT_HOSTILE_SERVER_HPP
#define REDLOCK_TESTS_SUPPORT_HOSTILE_SERVER_HPP

#include "certificates.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace redlock::testing {

struct harm {
    std::string begin{};    ///< Sent once.
    std::string endless{};  ///< Sent behind it, again and again, as fast as it is taken.
    bool trickle{false};    ///< One byte of these each millisecond, instead.

    /// It passes everything on to and from a good server on this port, until it is sent `word`; 0: it does harm as soon as it is spoken to.
    std::uint16_t behind{0};
    std::string word{};
    bool later{false};  ///< Not then, but when nothing has been said for a while after that.
};

/// Listens on a free loopback port until it is destroyed, on a thread of its own.
class hostile_server {
public:
    /// With TLS, if it has a certificate.
    explicit hostile_server(harm how, std::optional<certified_key> tls = {});
    hostile_server(hostile_server const&) = delete;
    hostile_server& operator=(hostile_server const&) = delete;
    ~hostile_server();

    std::uint16_t port() const noexcept;

    /// Connections on which it has done harm and that have ended.
    std::size_t ended() const noexcept;

    /// The most bytes of harm that were taken from it on one connection, with what lies in the buffers of the kernel.
    std::size_t most_taken() const noexcept;

private:
    class impl;
    std::unique_ptr<impl> impl_;
};

}  // namespace redlock::testing

#endif
