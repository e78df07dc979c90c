// The addresses of a name, and which of them a connection begins with.
#ifndef REDLOCK_NODE_CONNECTION_ADDRESS_CHOICE_HPP
#define REDLOCK_NODE_CONNECTION_ADDRESS_CHOICE_HPP

#include <boost/asio/ip/address.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace redlock::detail {

// What all attempts to connect to one server share. They begin with the address that led to the server the last time. After an attempt that failed each
// begins with the next address: one may lead to a server that accepts connections and is of no use.
class address_choice {
public:
    using addresses = std::vector<boost::asio::ip::address>;

    // `all`: in the order of the name service.
    addresses in_order(addresses all) const
    {
        if (all.empty()) return all;
        auto first = all.begin() + static_cast<std::ptrdiff_t>(failures_ % all.size());
        if (good_) first = std::find(all.begin(), all.end(), *good_);
        if (first != all.end()) std::rotate(all.begin(), first, all.end());
        return all;
    }

    void worked(boost::asio::ip::address const& one) { good_ = one; }

    // Also if the server was refused only later.
    void failed() noexcept
    {
        good_.reset();
        ++failures_;
    }

private:
    std::optional<boost::asio::ip::address> good_;
    std::size_t failures_{0};
};

// For one connection.
struct address_search {
    address_choice const& choice;
    std::function<void(std::size_t addresses)> on_found;
    bool looking{false};

    address_choice::addresses found(address_choice::addresses all)
    {
        looking = false;
        auto in_order = choice.in_order(std::move(all));
        on_found(in_order.size());
        return in_order;
    }
};

}  // namespace redlock::detail

#endif
