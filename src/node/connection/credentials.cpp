#include "node/connection/credentials.hpp"

#include "node/connection/small_file.hpp"

#include <cstdlib>
#include <string_view>

namespace redlock::detail {

namespace {

constexpr std::size_t max_password_size = std::size_t{64} << 10;

std::string without_newline(std::string text)
{
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    return text;
}

std::string from_file(std::string const& path)
{
    std::string password;
    try {
        password = without_newline(read_small_file(path, max_password_size));
    } catch (file_error const& error) {
        throw credentials_error{std::string{"the password_file "} + error.what()};
    }
    if (password.empty()) throw credentials_error{"the password_file " + path + " is empty"};
    return password;
}

// The variable is not named: who takes password_env for the password itself has written that.
std::string from_environment(std::string const& name)
{
    char const* const value = std::getenv(name.c_str());
    if (!value) throw credentials_error{"the variable of the environment that password_env names is not set"};
    auto password = without_newline(value);
    if (password.empty()) throw credentials_error{"the variable of the environment that password_env names is empty"};
    return password;
}

}  // namespace

std::string current_password(node_address const& address)
{
    if (!address.password_file.empty()) return from_file(address.password_file);
    if (!address.password_env.empty()) return from_environment(address.password_env);
    return address.password;
}

}  // namespace redlock::detail
