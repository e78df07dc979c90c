// A batch of commands, what a server answered to them, and what each answer is worth by the rules of docs/protocol.md and of the
// scripts: written a second time, more strictly and less cleverly than in src/protocol/redis_replies.cpp.
#ifndef REDLOCK_TESTS_FUZZ_CONVERSATION_HPP
#define REDLOCK_TESTS_FUZZ_CONVERSATION_HPP

#include "input.hpp"

#include "protocol/redis_replies.hpp"
#include "protocol/redis_request.hpp"

#include <boost/redis/resp3/node.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace redlock::fuzz {

namespace resp3 = boost::redis::resp3;
using owned_node = resp3::basic_node<std::string>;

/// All RESP3 nodes of one answer: the root, and behind it what it contains.
using answer = std::vector<owned_node>;

inline constexpr std::string_view server_id = "0123456789abcdef0123456789abcdef01234567";

/// A batch as the input chooses it, and its request.
class conversation {
public:
    explicit conversation(input& in);

    std::size_t calls() const noexcept { return request_->calls.size(); }
    detail::wire_call const& call(std::size_t i) const noexcept { return request_->calls[i]; }

    /// Feeds the answers, one for each call, and compares every reply with what it should be.
    void judge(std::vector<answer> const& answers) const;

private:
    std::array<std::string, 3> names_{"a", "b", "c"};
    std::string permits_key_{"a:permits"};
    std::vector<std::vector<std::string>> others_;
    detail::batch work_;
    std::unique_ptr<detail::redis_request> request_;
};

}  // namespace redlock::fuzz

#endif
