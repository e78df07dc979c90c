// Three real servers under the scripts, and the ways in which they lose what they know.
#ifndef REDLOCK_TESTS_FENCING_NODES_HPP
#define REDLOCK_TESTS_FENCING_NODES_HPP

#include "protocol/admission_scripts.hpp"
#include "protocol/fence_scripts.hpp"
#include "simulation/random.hpp"
#include "support/redis_server.hpp"
#include "support/resp_client.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::fencing {

using words = std::vector<std::string>;
using token_number = std::int64_t;

// What is left out of the protocol, to see that it is missed.
enum class mutant : std::uint8_t { none, one_round, no_guard, no_catch_up, no_drain, no_trailing_check };
inline constexpr std::array<std::string_view, 6> mutant_names{"none",        "one_round", "no_guard",
                                                              "no_catch_up", "no_drain",  "no_trailing_check"};

inline constexpr token_number first_base = token_number{1} << 41;
inline constexpr std::int64_t maxttl_ms = 600'000;

// The scripts that a mutant changes.
struct script_set {
    detail::script acquire;
    detail::script confirm;
    detail::script extend;
};
script_set const& scripts_of(mutant m);

enum class loss : std::uint8_t {
    flush,             // FLUSHALL: the id stays
    forget,            // like a restart without persistence: nothing left, a new id
    roll_back,         // like a restart with an old file: an older state, a new id
    false_alarm,       // a new id, and nothing was lost
    restart,           // a real one, without a file
    restart_from_file, // a real one, which loads a file that may be old
    demote             // a replica of an empty server for a while, on one connection
};

// What a look at the server shows.
struct identity {
    std::string id;
    bool master{false};
};

// All that it shows, of one lock and of itself. Text as in traces: `-` is nothing.
struct shown_by_server {
    std::string id{};
    std::string record{"-"};  // of which id; there is none without a high-water mark
    std::string mark{"-"};
    token_number base{0};
    token_number high_water{0};
    std::int64_t max_ttl{0};
    std::string key{"-"};
    std::string counter{"-"};
};

class node {
public:
    node();

    // Empty but for the record: admitted, under the id that it has.
    void reset();

    // Runs a script, and loads it first where it is not known.
    testing::resp_reply run(detail::script const& s, words const& keys, words const& arguments);
    identity look();
    shown_by_server show(std::string const& name);

    // Keeps what there is of a lock, for a later loss that brings it back.
    void remember(std::string const& name, bool in_a_file);
    void lose(loss what, std::string const& name, testing::redis_server& empty);
    void expire(std::string const& name) { ask({"DEL", name}); }
    bool admitted();
    testing::resp_reply ask(words const& command);

private:
    void connect();
    void demote(testing::redis_server& empty);

    testing::redis_server server_;
    std::optional<testing::resp_client> line_;
    int asked_{0};
    words memory_;
};

}  // namespace redlock::fencing

#endif
