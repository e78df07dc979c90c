// The password of a node, from wherever it is.
#ifndef REDLOCK_NODE_CONNECTION_CREDENTIALS_HPP
#define REDLOCK_NODE_CONNECTION_CREDENTIALS_HPP

#include <redlock/config.hpp>

#include <stdexcept>
#include <string>

namespace redlock::detail {

// Why there is none, in words that tell no secret.
class credentials_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline bool has_password(node_address const& address) noexcept
{
    return !address.password.empty() || !address.password_file.empty() || !address.password_env.empty();
}

// As it is now; empty: the server wants none. Throws `credentials_error`.
std::string current_password(node_address const& address);

}  // namespace redlock::detail

#endif
