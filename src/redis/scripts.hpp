// The Lua scripts, and their names on the servers (SHA-1 of the text, as SCRIPT LOAD answers it).
#ifndef REDLOCK_REDIS_SCRIPTS_HPP
#define REDLOCK_REDIS_SCRIPTS_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

struct script {
    std::string_view text;
    std::string sha1;
};

// `text` must outlive it. Throws std::runtime_error when there is no SHA-1.
script make_script(std::string_view text);

// KEYS: any number of locks; ARGV: value and ttl in ms for each. Answers one number for each: 1 extended, 0 not ours.
script const& extend_script();

// KEYS: a lock; ARGV: its value. Answers 1 deleted, 0 was not there or is not ours.
script const& release_script();

// The same for many locks in one call, which costs a server two thirds of what a call for each does. KEYS: any number of locks; ARGV: the
// value of each. Answers one number for each, as above.
script const& release_many_script();

// A lock of several keys. With one key they would do what SET NX PX and release_script do, for more of the server's time.

// KEYS: all different; ARGV: value, ttl in ms. Answers as SET NX does: OK, all are set; nil, one of them is there, and none was set.
script const& acquire_several_script();

// KEYS; ARGV: the value. Deletes those that are ours. Answers 1 if all were, else 0.
script const& release_several_script();

}  // namespace redlock::detail

#endif
