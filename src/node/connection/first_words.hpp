// What the first line of a server means, where it is not the answer to HELLO: an error that refuses the connection or the credentials, or the words of
// another kind of server. No I/O.
#ifndef REDLOCK_NODE_CONNECTION_FIRST_WORDS_HPP
#define REDLOCK_NODE_CONNECTION_FIRST_WORDS_HPP

#include "node/connection/handshake.hpp"

#include <string>
#include <string_view>

namespace redlock::detail {

// Why a server that answered with this error has no vote.
handshake_reader::objection refusal_of(std::string_view error, handshake const& asked);

// The same of a line; no error: it holds none.
handshake_reader::objection refusal_in(std::string_view line, handshake const& asked, std::string_view secret);

// Whether no answer of Redis begins like this.
bool is_foreign(std::string_view line) noexcept;

// Who says this, or what was said, as the end of a sentence.
std::string what_answers(std::string_view line, std::string_view secret);

}  // namespace redlock::detail

#endif
