// Streams that check what they read against reply_bounds, before Boost.Redis parses it. redis_connection reads through them.
//
// Boost.Redis makes its streams for the executor type of its connection. So bounded_executor is an executor type of our own, and the
// specialisations of Asio's sockets and streams for it are below. They also open their descriptors themselves: those of Asio are inherited
// by each program that the process starts, and Asio tells the lack of descriptors as "operation aborted". They do what Boost.Redis has no
// function for: they turn Nagle's algorithm off, prepare TLS, and can be looked at (stream_access). Boost.Redis has bounds itself, but
// they do not end the connection in all of its releases (the bound of 1.88 throws out of the executor), and they do not check lengths. Slow
// to compile.
#ifndef REDLOCK_NODE_CONNECTION_BOUNDED_STREAM_HPP
#define REDLOCK_NODE_CONNECTION_BOUNDED_STREAM_HPP

#include "node/connection/address_choice.hpp"
#include "node/connection/reply_bounds.hpp"
#include "node/connection/stream_access.hpp"
#include "node/connection/tls.hpp"

#include <redlock/error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/ssl/verify_context.hpp>

#include <cstddef>
#include <cstdint>
#include <cerrno>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::detail {

namespace asio = boost::asio;

// The bounds that a stream checks, and what is told of it: the addresses of the server, and itself. What is pointed to must outlive the stream.
struct reading_bounds {
    reply_bounds* bounds{nullptr};
    error_code* not_opened{nullptr};  // why the system gave no socket
    address_search* search{nullptr};
    stream_access* access{nullptr};
};

// A descriptor that ends where another program begins, and sends without delay: Nagle's algorithm costs a round trip where requests follow each
// other closely.
template <class Socket, class Protocol>
error_code open_socket(Socket& socket, Protocol const& protocol)
{
    error_code ec;
#ifdef SOCK_CLOEXEC
    int const descriptor = ::socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
    if (descriptor < 0) return {errno, asio::error::get_system_category()};
    socket.assign(protocol, descriptor, ec);
    if (ec) ::close(descriptor);
#else
    socket.open(protocol, ec);
    if (!ec) ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
#endif
    if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) {
        error_code ignored;  // if the option cannot be set, the node is only slower
        if (!ec) socket.set_option(asio::ip::tcp::no_delay{true}, ignored);
    }
    return ec;
}

class bounded_executor : public asio::any_io_executor {
public:
    bounded_executor(asio::any_io_executor inner, reading_bounds const& bounds) noexcept
        : any_io_executor{std::move(inner)}, bounds_{bounds}
    {
    }

    reading_bounds const& bounds() const noexcept { return bounds_; }

private:
    reading_bounds bounds_;
};

// Where a stream reads. Bytes are counted when they come from the network, and checked when they are plain text; without TLS both at once.
enum class layer : std::uint8_t { network, plain, both };

template <class Handler>
struct bounded_read {
    void operator()(error_code ec, std::size_t size)
    {
        if (!ec && where != layer::plain) bounds->received(size);
        if (!ec && where != layer::network && bounds->objection().empty()) bounds->look({static_cast<char const*>(into.data()), size});
        if (!ec && !bounds->objection().empty()) ec = errc::not_a_redis_server;
        std::move(handler)(ec, ec ? 0 : size);
    }

    // Each read continues the one before it, so Asio need not wake another thread.
    friend bool asio_handler_is_continuation(bounded_read*) noexcept { return true; }

    Handler handler;
    reply_bounds* bounds;
    layer where;
    asio::mutable_buffer into;
};

// `Buffers`: one buffer where the bytes are checked; any number of them in layer::network, where they are only counted.
template <class Stream, class Buffers, class Token>
auto async_read_some_bounded(Stream& from, reply_bounds* bounds, layer where, Buffers const& into, Token&& token)
{
    auto begin = [&from, bounds, where](auto handler, Buffers const& to) {
        asio::mutable_buffer first;
        if (where != layer::network) first = *asio::buffer_sequence_begin(to);
        from.async_read_some(to, bounded_read<decltype(handler)>{std::move(handler), bounds, where, first});
    };
    return asio::async_initiate<Token, void(error_code, std::size_t)>(std::move(begin), token, into);
}

}  // namespace redlock::detail

namespace boost::asio {

template <template <class, class> class Associator, class Handler, class Default>
struct associator<Associator, redlock::detail::bounded_read<Handler>, Default> : Associator<Handler, Default> {
    static auto get(redlock::detail::bounded_read<Handler> const& read) noexcept { return Associator<Handler, Default>::get(read.handler); }
    static auto get(redlock::detail::bounded_read<Handler> const& read, Default const& otherwise) noexcept
    {
        return Associator<Handler, Default>::get(read.handler, otherwise);
    }
};

// The sockets below Boost.Redis: TCP and unix sockets. asio::async_connect takes this base of them, and tries one address after the other.
template <class Protocol>
class basic_socket<Protocol, redlock::detail::bounded_executor> {
public:
    using executor_type = redlock::detail::bounded_executor;
    using protocol_type = Protocol;
    using endpoint_type = typename Protocol::endpoint;
    using lowest_layer_type = basic_socket<Protocol, any_io_executor>;

    explicit basic_socket(executor_type const& executor) : socket_{executor}, bounds_{executor.bounds()} {}

    executor_type get_executor() { return {socket_.get_executor(), bounds_}; }
    lowest_layer_type& lowest_layer() noexcept { return socket_.lowest_layer(); }
    lowest_layer_type const& lowest_layer() const noexcept { return socket_.lowest_layer(); }
    auto& plain_socket() noexcept { return socket_; }
    bool is_open() const noexcept { return socket_.is_open(); }
    auto close() { return socket_.close(); }
    auto close(redlock::error_code& ec) { return socket_.close(ec); }

    template <class Token>
    auto async_connect(endpoint_type const& peer, Token&& token)
    {
        return asio::async_initiate<Token, void(redlock::error_code)>(start_connecting{this}, token, peer);
    }

protected:
    struct start_connecting {
        using executor_type = any_io_executor;  // for cancel_after

        executor_type get_executor() const noexcept { return of->socket_.get_executor(); }

        template <class Handler>
        void operator()(Handler&& handler, endpoint_type const& to) const
        {
            auto const ec = of->is_open() ? redlock::error_code{} : redlock::detail::open_socket(of->socket_, to.protocol());
            if (!ec) return of->socket_.async_connect(to, std::forward<Handler>(handler));
            *of->bounds_.not_opened = ec;
            asio::post(of->socket_.get_executor(), asio::append(std::forward<Handler>(handler), ec));
        }

        basic_socket* of;
    };

    basic_stream_socket<Protocol, any_io_executor> socket_;
    redlock::detail::reading_bounds bounds_;
};

template <class Protocol>
class basic_stream_socket<Protocol, redlock::detail::bounded_executor> : public basic_socket<Protocol, redlock::detail::bounded_executor> {
    using base = basic_socket<Protocol, redlock::detail::bounded_executor>;

public:
    using executor_type = any_io_executor;

    explicit basic_stream_socket(redlock::detail::bounded_executor const& executor) : base{executor} {}

    executor_type get_executor() noexcept { return this->socket_.get_executor(); }

    template <class Buffers, class Token>
    auto async_read_some(Buffers const& into, Token&& token)
    {
        constexpr bool is_tcp = std::is_same_v<Protocol, ip::tcp>;
        auto const where = is_tcp && this->bounds_.access->session ? redlock::detail::layer::network : redlock::detail::layer::both;
        return redlock::detail::async_read_some_bounded(this->socket_, this->bounds_.bounds, where, into, std::forward<Token>(token));
    }

    template <class Buffers, class Token>
    auto async_write_some(Buffers const& from, Token&& token)
    {
        return this->socket_.async_write_some(from, std::forward<Token>(token));
    }
};

namespace ssl {

template <>
class stream<basic_stream_socket<ip::tcp, redlock::detail::bounded_executor>> {
public:
    using next_layer_type = basic_stream_socket<ip::tcp, redlock::detail::bounded_executor>;
    using lowest_layer_type = next_layer_type::lowest_layer_type;
    using executor_type = any_io_executor;

    stream(redlock::detail::bounded_executor const& executor, context& with) : parts_{std::make_unique<parts>(executor, with)} {}

    executor_type get_executor() noexcept { return parts_->socket.get_executor(); }
    next_layer_type& next_layer() noexcept { return parts_->socket; }
    next_layer_type const& next_layer() const noexcept { return parts_->socket; }
    lowest_layer_type& lowest_layer() noexcept { return parts_->socket.lowest_layer(); }

    template <class Token>
    auto async_handshake(stream_base::handshake_type type, Token&& token)
    {
        return parts_->tls.async_handshake(type, std::forward<Token>(token));
    }

    template <class Buffers, class Token>
    auto async_write_some(Buffers const& from, Token&& token)
    {
        return parts_->tls.async_write_some(from, std::forward<Token>(token));
    }

    template <class Buffers, class Token>
    auto async_read_some(Buffers const& into, Token&& token)
    {
        return redlock::detail::async_read_some_bounded(parts_->tls, parts_->bounds, redlock::detail::layer::plain, into,
                                                        std::forward<Token>(token));
    }

private:
    struct parts {
        parts(redlock::detail::bounded_executor const& executor, context& with)
            : bounds{executor.bounds().bounds}, access{executor.bounds().access}, socket{executor}, tls{socket, with}
        {
            if (access->session) prepare(*access->session);
            access->socket = &socket.plain_socket();
            access->tls = tls.native_handle();
        }
        parts(parts const&) = delete;
        parts& operator=(parts const&) = delete;
        ~parts()
        {
            if (access->socket == &socket.plain_socket()) access->socket = nullptr;
        }

        void prepare(redlock::detail::tls_session& session)
        {
            session.announce(tls.native_handle());
            if (session.verifies())
                tls.set_verify_callback([of = &session](bool good, verify_context& context_of) { return of->judge(good, context_of); });
        }

        redlock::detail::reply_bounds* bounds;
        redlock::detail::stream_access* access;
        next_layer_type socket;
        stream<next_layer_type&> tls;
    };
    std::unique_ptr<parts> parts_;
};

}  // namespace ssl

}  // namespace boost::asio

#endif
