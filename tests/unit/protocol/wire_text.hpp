// Commands as they are on the wire, for tests of what is sent.
#ifndef REDLOCK_TESTS_UNIT_REDIS_WIRE_TEXT_HPP
#define REDLOCK_TESTS_UNIT_REDIS_WIRE_TEXT_HPP

#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {

// The replication id of the server that the requests are for.
inline std::string const server_id(40, 'a');

inline std::string bulk(std::string_view s) { return "$" + std::to_string(s.size()) + "\r\n" + std::string{s} + "\r\n"; }

// A whole command.
inline std::string resp(std::vector<std::string> const& words)
{
    std::string text = "*" + std::to_string(words.size()) + "\r\n";
    for (auto const& word : words) text += bulk(word);
    return text;
}

}  // namespace redlock::testing

#endif
