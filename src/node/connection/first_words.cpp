#include "node/connection/first_words.hpp"

#include "protocol/rights.hpp"
#include "protocol/server_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace redlock::detail {

namespace {

constexpr std::size_t max_quoted = 60;

// The first words of the errors that have to do with the credentials, or with HELLO itself.
constexpr std::array<std::string_view, 5> of_hello{"WRONGPASS ", "NOAUTH ", "NOPERM ", "NOPROTO ", "ERR "};

}  // namespace

handshake_reader::objection refusal_of(std::string_view error, handshake const& asked)
{
    auto const begins = [error](std::string_view with) { return error.starts_with(with); };
    std::string const says = " (" + std::string{error} + ')';
    if (is_unknown_command(error))
        return {errc::handshake_refused,
                "HELLO was refused: unknown command; the server is older than Redis 6, or its configuration renames "
                "the command (rename-command)"};
    if (begins("ERR max number of clients"))
        return {errc::server_error,
                "the server takes no more connections" + says + "; its maxclients is too small, or clients leave theirs open"};
    if (begins("DENIED"))
        return {
            errc::server_error,
            "the server takes connections from its own machine only (DENIED: protected mode); give its users passwords (requirepass, ACL "
            "SETUSER), or set protected-mode no where only trusted machines reach it"};
    if (std::any_of(of_hello.begin(), of_hello.end(), begins)) return {errc::handshake_refused, hello_refused(asked) + says};
    return {errc::server_error, "HELLO was answered with an error" + says};
}

handshake_reader::objection refusal_in(std::string_view line, handshake const& asked, std::string_view secret)
{
    if (!line.starts_with('-')) return {};
    return refusal_of(words_of_server(line.substr(1), secret), asked);
}

bool is_foreign(std::string_view line) noexcept
{
    constexpr std::string_view types{"+-:,(#_$!=*~%>|"};
    return !line.empty() && types.find(line.front()) == types.npos;
}

std::string what_answers(std::string_view line, std::string_view secret)
{
    if (line.starts_with("\x15\x03")) return "it answered with TLS; a server with TLS wants rediss:// instead";  // an alert
    auto const words = words_of_server(line, secret).substr(0, max_quoted);
    bool const is_page = line.starts_with("<!DOCTYPE") || line.starts_with("<html");  // as to a request without a version
    if (is_page || line.starts_with("HTTP/")) return "it is a web server (" + words + ')';
    if (line.starts_with("SSH-")) return "it is an SSH server (" + words + ')';
    return "it said \"" + words + '"';
}

}  // namespace redlock::detail
