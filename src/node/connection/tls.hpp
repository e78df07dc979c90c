// TLS: what all connections of a node share, the checks of each, and what went wrong in words. No I/O but the files.
#ifndef REDLOCK_NODE_CONNECTION_TLS_HPP
#define REDLOCK_NODE_CONNECTION_TLS_HPP

#include <redlock/config.hpp>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::detail {

// What is wrong with the options on this machine, as with a file that cannot be read.
class tls_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Certificates and key in a context that connections with the same options share, since to read them takes milliseconds.
class tls_files {
public:
    // The files are read again once one of them has changed, and each time where there is a `ca_path`. `tls`: the same each time. Throws `tls_error`.
    asio::ssl::context context_for(tls_options const& tls);

    // For a connection without TLS, which needs one all the same.
    asio::ssl::context unused_context();

private:
    std::optional<asio::ssl::context> context_;  // none: they were not read
    std::string version_;  // of the files that it has
};

// One connection's end of it.
class tls_session {
public:
    explicit tls_session(node_address const& address);

    // Before the handshake: the name that is asked for (SNI), where it is a name, and for whom the certificate has to be. Throws `tls_error`.
    void announce(SSL* connection) const;

    bool verifies() const noexcept { return verifies_; }

    // Takes OpenSSL's word for each certificate of the server, and notes why one is not believed.
    bool judge(bool good, asio::ssl::verify_context& of);

    // Why the server's certificate was not believed; empty: it was, or there was none yet.
    std::string const& objection() const noexcept { return objection_; }

private:
    std::string name_;
    bool verifies_;
    std::string objection_;
};

}  // namespace redlock::detail

#endif
