// The words of a server, before they get into a status, a report or a log. A server chooses them, and those that do not know a command repeat what they
// were sent, which may be a password. No I/O.
#ifndef REDLOCK_PROTOCOL_SERVER_WORDS_HPP
#define REDLOCK_PROTOCOL_SERVER_WORDS_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

// What may be told of them: one line of at most 1,000 bytes, without the arguments of an unknown command, and without what follows `secret` or the
// beginning of it. redis_connection does it for each error that it passes on; whatever else is quoted of a server goes through it by itself.
std::string words_of_server(std::string_view said, std::string_view secret = {});

}  // namespace redlock::detail

#endif
