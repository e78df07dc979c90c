// What a Sentinel is asked about a group, and what its answers mean. No I/O.
#ifndef REDLOCK_NODE_SENTINEL_SENTINEL_ANSWERS_HPP
#define REDLOCK_NODE_SENTINEL_SENTINEL_ANSWERS_HPP

#include <redlock/error.hpp>

#include <boost/redis/request.hpp>
#include <boost/redis/resp3/node.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

// A server of a group, as a Sentinel names it.
struct group_member {
    std::string host;
    std::uint16_t port{0};

    friend bool operator==(group_member const&, group_member const&) = default;
};

std::string to_string(group_member const& member);

// The answers of one Sentinel that knows the group.
struct sentinel_view {
    std::uint64_t epoch{0};  // the configuration epoch: each failover has a larger one
    group_member primary;
    std::chrono::milliseconds down_after{0};  // how long a server has to be silent until the Sentinel calls it down
    std::vector<group_member> servers;  // the primary and all others that the Sentinel knows, each once
};

// What became of the questions to one Sentinel.
struct sentinel_report {
    enum class outcome : std::uint8_t {
        answered,
        no_such_master,  // it is a Sentinel, and does not know the name
        no_sentinel,  // it is a server of another kind
        failed,  // no connection, no answer, no permission, or an answer that makes no sense
    };

    std::string sentinel;  // host:port
    outcome is{outcome::failed};
    sentinel_view view;  // answered
    std::string problem{"it was not asked"};  // failed: why
};

// SENTINEL GET-MASTER-ADDR-BY-NAME, MASTER and REPLICAS. Only the first names a replica that is being promoted; only the second has the epoch.
boost::redis::request sentinel_request(std::string const& master);

// Reads the answers to sentinel_request.
class sentinel_reader {
public:
    // One RESP3 node of the answer to call `index`.
    void on_node(std::size_t index, boost::redis::resp3::node_view const& node);

    // Call this when all answers have been read. `sentinel` is left empty.
    sentinel_report conclude();

private:
    using node_view = boost::redis::resp3::node_view;

    void on_error(std::string_view words);
    void on_field(std::size_t index, node_view const& node);
    void end_member();
    void add(std::string const& host, std::string_view port);

    bool unknown_{false};
    bool foreign_{false};
    std::string error_;
    std::vector<std::string> address_;  // of GET-MASTER-ADDR-BY-NAME: host and port
    std::string key_;  // the element of a map that was read last, if it was a key
    bool has_key_{false};
    std::string host_, port_;  // of the map that is being read
    std::optional<std::uint64_t> epoch_;
    std::chrono::milliseconds down_after_{0};
    std::vector<group_member> servers_;
    bool malformed_{false};
};

// Reads the pushes of a Sentinel's channel +switch-master, whose messages are "NAME OLD-HOST OLD-PORT NEW-HOST NEW-PORT".
class switch_reader {
public:
    explicit switch_reader(std::string master) : master_{std::move(master)} {}

    enum class news : std::uint8_t { none, subscribed, switched };

    // Takes one RESP3 node of any push.
    news on_node(boost::redis::resp3::node_view const& node);

private:
    std::string master_;
    std::size_t element_{0};
    bool is_message_{false};
};

}  // namespace redlock::detail

#endif
