// The resolver of our connections, which looks up names as name_lookup.hpp does. Boost.Redis makes its resolver for the executor type of its
// connection, so it is a specialisation of Asio's resolver for that type. Slow to compile.
#ifndef REDLOCK_NODE_CONNECTION_BOUNDED_RESOLVER_HPP
#define REDLOCK_NODE_CONNECTION_BOUNDED_RESOLVER_HPP

#include "node/connection/bounded_stream.hpp"
#include "node/connection/name_lookup.hpp"

#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

using resolved_endpoints = asio::ip::basic_resolver_results<asio::ip::tcp>;

// Makes endpoints of addresses, in the order that the connection wants.
template <class Handler>
struct resolved {
    void operator()(error_code ec, ip_addresses const& found)
    {
        std::uint16_t number{0};
        std::from_chars(port.data(), port.data() + port.size(), number);
        std::vector<asio::ip::tcp::endpoint> endpoints;
        for (auto const& address : search->found(found)) endpoints.emplace_back(address, number);
        std::move(handler)(ec, resolved_endpoints::create(endpoints.begin(), endpoints.end(), host, port));
    }

    Handler handler;
    address_search* search;
    std::string host;
    std::string port;
};

}  // namespace redlock::detail

namespace boost::asio {

template <template <class, class> class Associator, class Handler, class Default>
struct associator<Associator, redlock::detail::resolved<Handler>, Default> : Associator<Handler, Default> {
    static auto get(redlock::detail::resolved<Handler> const& one) noexcept { return Associator<Handler, Default>::get(one.handler); }
    static auto get(redlock::detail::resolved<Handler> const& one, Default const& otherwise) noexcept
    {
        return Associator<Handler, Default>::get(one.handler, otherwise);
    }
};

namespace ip {

// One lookup at a time.
template <>
class basic_resolver<tcp, redlock::detail::bounded_executor> {
public:
    using executor_type = redlock::detail::bounded_executor;
    using results_type = redlock::detail::resolved_endpoints;

    explicit basic_resolver(executor_type executor) : executor_{std::move(executor)} {}

    executor_type get_executor() const noexcept { return executor_; }

    void cancel() { redlock::detail::give_up(waiter_); }

    template <class Token>
    auto async_resolve(std::string const& host, std::string const& port, Token&& token)
    {
        return async_initiate<Token, void(system::error_code, results_type)>(initiation{this}, token, host, port);
    }

private:
    struct initiation {
        using executor_type = basic_resolver::executor_type;
        executor_type get_executor() const noexcept { return self->executor_; }

        template <class Handler>
        void operator()(Handler&& handler, std::string const& host, std::string const& port) const
        {
            auto* const search = self->executor_.bounds().search;
            search->looking = true;
            redlock::detail::resolved<std::decay_t<Handler>> done{std::forward<Handler>(handler), search, host, port};
            self->waiter_ = redlock::detail::look_up(self->executor_, host, std::move(done));
        }

        basic_resolver* self;
    };

    executor_type executor_;
    std::weak_ptr<redlock::detail::lookup_waiter> waiter_;
};

}  // namespace ip

}  // namespace boost::asio

#endif
