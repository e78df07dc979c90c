// The Lua scripts for locks without tokens. fence_scripts.hpp has those for tokens, and redis_request encodes the calls of both.
#ifndef REDLOCK_PROTOCOL_SCRIPTS_HPP
#define REDLOCK_PROTOCOL_SCRIPTS_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

struct script {
    std::string_view text;
    std::string sha1;  // of the text, in hexadecimal; EVALSHA names the script by it
};

// `text` must outlive the script. Throws std::runtime_error if OpenSSL provides no SHA-1.
script make_script(std::string_view text);

// The same, and it is never destroyed: a client may be in use while a program ends, after main() has returned.
script const& lasting_script(std::string_view text);

// Extends any number of locks. KEYS: the locks. ARGV: value and ttl in ms of each. Answers one number for each: 1 extended, 0 the key does not
// contain the value.
script const& extend_script();

// Deletes one lock. KEYS: the lock. ARGV: its value. Answers 1 deleted, 0 the key does not contain the value.
script const& release_script();

// Deletes many locks in one call. That costs the server two thirds of the time of a call for each. KEYS: the locks. ARGV: the value of each. Answers
// one number for each, as above.
script const& release_many_script();

// The next two scripts are for one lease on several keys. For one key, SET NX PX and release_script do the same in less of the server's time.

// Sets all keys or none. KEYS: the keys, all different. ARGV: value, ttl in ms. Answers like SET NX: OK if all were set, nil if one was there
// already.
script const& acquire_several_script();

// Deletes the keys that contain the value. KEYS: the keys. ARGV: the value. Answers 1 if all keys contained it, else 0.
script const& release_several_script();

// Adopts a lease: replaces its value. KEYS: the keys. ARGV: the former value, the new value, ttl in ms. Answers 1 if all keys contained the former value,
// or all of them the new one (a repeated call, which extends them), else 0; then nothing was written.
script const& adopt_script();

}  // namespace redlock::detail

#endif
