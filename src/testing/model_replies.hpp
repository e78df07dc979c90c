// What a server in memory answers.
#ifndef REDLOCK_TESTING_MODEL_REPLIES_HPP
#define REDLOCK_TESTING_MODEL_REPLIES_HPP

#include "protocol/reply.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace redlock::testing {

using detail::reply;

inline reply granted() { return reply{vote::granted}; }
inline reply with_counter(reply r, token_number counter)
{
    r.counter = counter;
    return r;
}
inline reply granted(token_number counter) { return with_counter(granted(), counter); }
inline reply recreated()
{
    reply r = granted();
    r.recreated = true;
    return r;
}
inline reply inspected(quorum::node_facts facts)
{
    reply r = granted();
    r.set_facts(std::move(facts));
    return r;
}
inline reply refused() { return reply{vote::refused}; }
inline reply needs_guard(token_number guard) { return with_counter(refused(), guard); }
inline reply not_admitted() { return {vote::failed, errc::node_not_admitted, {}}; }
inline reply ttl_too_long(std::chrono::milliseconds max)
{
    return {vote::failed, errc::ttl_too_long, "the node allows " + std::to_string(max.count()) + " ms"};
}
inline reply no_counter() { return {vote::failed, errc::unexpected_reply, "somebody else's data is where the counter should be"}; }
inline reply error_reply(char const* text) { return {vote::failed, errc::server_error, text}; }

}  // namespace redlock::testing

#endif
