// TLS for one connection: the files, the checks, and what went wrong in words. No I/O but the files.
#ifndef REDLOCK_REDIS_TLS_HPP
#define REDLOCK_REDIS_TLS_HPP

#include <redlock/config.hpp>

#include <boost/asio/ssl/context.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

// What is wrong with the options on this machine, as with a file that cannot be read.
class tls_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// One connection's end of it. Reads all files; throws `tls_error`.
class tls_session {
public:
    explicit tls_session(node_address const& address);

    // The context is the connection's to keep; this object must live as long as that.
    asio::ssl::context take_context() { return std::move(context_); }

    // Before the handshake: the name that is asked for (SNI), where it is a name.
    void announce(SSL* connection) const;

    // Why the server's certificate was not believed; empty: it was, or there was none yet.
    std::string const& objection() const noexcept { return objection_; }

private:
    void trust(tls_options const& tls);
    void show(tls_options const& tls);
    void verify();

    std::string name_;
    asio::ssl::context context_{asio::ssl::context::tls_client};
    std::string objection_;
};

}  // namespace redlock::detail

#endif
