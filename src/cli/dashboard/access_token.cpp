#include "cli/dashboard/access_token.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/notes.hpp"
#include "node/connection/small_file.hpp"

#include <boost/algorithm/string/predicate.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <cstdlib>
#include <vector>

#include <sys/stat.h>

namespace redlock::cli {

namespace {

constexpr std::size_t max_file = 4'096, max_header = 1'024;

std::string_view without_space(std::string_view text)
{
    auto const first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") + 1 - first);
}

// Empty: this is no Base64.
std::string from_base64(std::string_view text)
{
    if (text.empty() || text.size() % 4 != 0) return {};
    std::vector<unsigned char> bytes(text.size() / 4 * 3);
    int const size = ::EVP_DecodeBlock(bytes.data(), reinterpret_cast<unsigned char const*>(text.data()), static_cast<int>(text.size()));
    if (size < 0) return {};
    auto const padding = static_cast<std::size_t>(text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0);
    return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(size) - padding)};
}

void warn_if_readable_by_all(std::string const& file)
{
    struct stat facts{};
    if (::stat(file.c_str(), &facts) != 0 || (facts.st_mode & S_IROTH) == 0) return;
    say_on_stderr("warning: " + file + " holds a token, and every user of this machine may read it; chmod o-rwx " + file);
}

}  // namespace

access_token::access_token(std::string_view token) : expected_{digest_of(token)}
{
    if (token.size() < min_size)
        throw failure{exit_code::usage, "the token for the dashboard has fewer than " + std::to_string(min_size) +
                                            " characters; make one, for instance with openssl rand -hex 16"};
}

// Digests have one length, and tell nothing of the tokens where they begin alike.
access_token::digest access_token::digest_of(std::string_view token)
{
    digest made{};
    unsigned int size = 0;
    if (::EVP_Digest(token.data(), token.size(), made.data(), &size, ::EVP_sha256(), nullptr) != 1)
        throw failure{exit_code::internal, "SHA-256 is not available"};
    return made;
}

bool access_token::is_in(std::string_view authorization) const
{
    using boost::algorithm::istarts_with;
    if (authorization.size() > max_header) return false;
    std::string given;
    if (istarts_with(authorization, "bearer ")) {
        given = without_space(authorization.substr(7));
    } else if (istarts_with(authorization, "basic ")) {
        given = from_base64(without_space(authorization.substr(6)));
        auto const colon = given.find(':');
        given.erase(0, colon == std::string::npos ? given.size() : colon + 1);
    }
    auto const of_given = digest_of(given);
    return ::CRYPTO_memcmp(of_given.data(), expected_.data(), of_given.size()) == 0;
}

std::optional<access_token> token_from(std::string const& file)
{
    if (!file.empty()) {
        try {
            auto const text = detail::read_small_file(file, max_file);
            warn_if_readable_by_all(file);
            return access_token{without_space(text)};
        } catch (detail::file_error const& error) {
            throw failure{exit_code::usage, std::string{"--token-file: "} + error.what()};
        }
    }
    char const* const variable = std::getenv(token_variable);
    if (variable == nullptr) return std::nullopt;
    return access_token{without_space(variable)};
}

}  // namespace redlock::cli
