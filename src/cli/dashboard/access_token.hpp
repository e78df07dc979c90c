// The word that a browser or a program has to know to read a dashboard that others on the network can reach. No I/O.
#ifndef REDLOCK_CLI_DASHBOARD_ACCESS_TOKEN_HPP
#define REDLOCK_CLI_DASHBOARD_ACCESS_TOKEN_HPP

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

class access_token {
public:
    static constexpr std::size_t min_size = 16;

    // Throws `failure` with `usage` when the token is too short to be secret.
    explicit access_token(std::string_view token);

    // Whether the value of an Authorization header has the token: "Bearer TOKEN", or "Basic ..." with it as the password of any user, which is what
    // browsers ask for. Takes the same time for all wrong tokens.
    bool is_in(std::string_view authorization) const;

private:
    using digest = std::array<unsigned char, 32>;
    static digest digest_of(std::string_view token);

    digest expected_;
};

// The token in `file`, or in the environment variable REDLOCK_DASHBOARD_TOKEN; none: neither is given. Throws `failure`. A file that others may read is
// complained of on stderr.
std::optional<access_token> token_from(std::string const& file);

inline constexpr char const* token_variable = "REDLOCK_DASHBOARD_TOKEN";

}  // namespace redlock::cli

#endif
