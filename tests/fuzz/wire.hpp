// Bytes to the messages in them, as Boost.Redis reads them from a connection.
#ifndef REDLOCK_TESTS_FUZZ_WIRE_HPP
#define REDLOCK_TESTS_FUZZ_WIRE_HPP

#include "conversation.hpp"

#include "node/connection/push_reader.hpp"
#include "node/connection/reply_bounds.hpp"
#include "protocol/redis_replies.hpp"

#include <boost/redis/resp3/parser.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::fuzz {

class wire {
public:
    /// Up to the byte at which the connection would be closed. The parser has to survive what is in front of that.
    explicit wire(std::string_view bytes) : bytes_{bytes}
    {
        detail::reply_bounds bounds;
        for (std::size_t i = 0; i < bytes.size() && bytes_.size() == bytes.size(); ++i) {
            bounds.received(1);
            bounds.look(bytes.substr(i, 1));
            if (!bounds.objection().empty()) bytes_ = bytes.substr(0, i);
        }
    }

    /// The next message; none when the rest is no complete message, or no RESP3: then the connection would be closed.
    std::optional<answer> next()
    {
        resp3::parser parser;
        boost::system::error_code ec;
        answer nodes;
        keeper keep{nodes};
        if (bytes_.empty() || !resp3::parse(parser, bytes_, keep, ec) || ec) return std::nullopt;
        bytes_.remove_prefix(std::min(parser.get_consumed(), bytes_.size()));
        return nodes;
    }

    /// A message that nobody asked for. Its kind is seen by its first byte, as Boost.Redis does.
    static bool is_push(answer const& message) { return message.front().data_type == resp3::type::push; }

private:
    // The parser called its adapter until it told it of beginnings and ends as well.
    struct keeper {
        answer& nodes;

        void on_init() {}
        void on_node(resp3::node_view const& n, boost::system::error_code&)
        {
            nodes.push_back({n.data_type, n.aggregate_size, n.depth, std::string{n.value}});
        }
        void on_done() {}
        void operator()(resp3::node_view const& n, boost::system::error_code& ec) { on_node(n, ec); }
    };

    std::string_view bytes_;
};

/// Feeds a push. The keys that it says have changed must be in it, in a message that is about changed keys.
inline void check_push(detail::push_reader& reader, answer const& push)
{
    bool const about_keys = push.size() > 1 && push[1].value == "invalidate";
    for (owned_node const& n : push) {
        auto const key = reader.on_node({n.data_type, n.aggregate_size, n.depth, n.value});
        if (!key) continue;
        check(about_keys, "a key changes only in a message that says so");
        bool const all_keys = n.data_type == resp3::type::null && key->empty();
        check(all_keys || (n.data_type == resp3::type::blob_string && *key == n.value), "a changed key is in the message");
    }
}

}  // namespace redlock::fuzz

#endif
