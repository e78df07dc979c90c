// A schedule in the proof's terms: a line of text for each transition of tests/proof/memory.py, with what it changed on its server.
// tests/proof/replay.py sees whether the proof allows them. It only looks: nothing in the world depends on whether somebody does.
//
// What a client decides inside is seen from outside: by what it was told (the answers that it got), and by what it does then.
#ifndef REDLOCK_TESTS_SIMULATION_TRANSITION_LOG_HPP
#define REDLOCK_TESTS_SIMULATION_TRANSITION_LOG_HPP

#include "clocks.hpp"
#include "process.hpp"
#include "server.hpp"

#include "redis/node.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

class universe;

class transition_log {
public:
    explicit transition_log(universe& of) : universe_{of} {}

    // The servers are as they begin. `bootstrap`: the operator says that nothing was ever locked there.
    void begin(std::uint64_t seed, bool bootstrap);
    std::string const& text() const noexcept { return text_; }

    // Of servers. What has happened to one by itself since it was looked at last; then a command that it has executed.
    void catch_up(server& s, detail::command const* before_this = nullptr);
    void executed(server& s, detail::command const& c, std::string_view learned, detail::reply const& answer);
    // The look at the end of a message has left this vote as it was.
    void counted(server& s, detail::command const& c, std::string_view learned, duration sent);

    // Of clients.
    void sent(process const& p, server const& to, detail::command const& c, std::string_view learned, bool is_on_its_way);
    void heard(std::size_t client, server const& from, detail::command const& c, detail::reply const& answer, duration sent);
    void killed(std::size_t client);
    // Its holder has these tokens of the lease with this value.
    void held(std::string const& value, testing::token_number first, testing::token_number last);
    // The end of the lease has moved: what it stands on was sent at this moment, or later.
    void moved_on(std::string const& value, duration since);
    // What one process of a machine notes the others can read.
    void is_of_machine(std::size_t client, std::size_t machine) { machines_[client] = machine; }

    // Whose command a server executes next, and when it was sent. No client: nobody will hear of it.
    void next(std::optional<std::size_t> client, duration sent)
    {
        on_behalf_of_ = client;
        sent_at_ = sent;
    }

private:
    struct counter_state {
        testing::token_number value;
        std::optional<time_point> expires;
        bool marked;  // by a climb
    };
    struct lock_key {
        std::string value;
        std::optional<time_point> expires;
    };
    struct picture {
        std::string id;
        std::string record;  // of which id; empty: none, or not complete
        std::string mark;
        testing::token_number base{0};
        testing::token_number high_water{0};
        std::chrono::milliseconds max_ttl{};
        std::map<std::string, lock_key> keys{};
        std::map<std::string, counter_state> counters{};
    };
    struct extension {
        std::size_t number;
        duration sent;
        testing::token_number guard;
        std::set<std::size_t> nodes;
    };
    struct climb {
        std::size_t number;
        duration sent;
        testing::token_number low;
        testing::token_number high;
        time_point ends;  // on its client's clock: it cannot succeed behind that
        std::set<std::size_t> nodes{};
        std::set<std::size_t> voted{};
        bool over{false};
    };
    struct renewal {
        std::size_t node;
        duration sent;
    };
    struct attempt {
        std::size_t client{0};
        testing::token_number block{1};
        duration sent{};
        time_point ends{};  // on its client's clock: it cannot complete behind that
        bool complete{false};
        bool over{false};
        std::optional<testing::token_number> token{};
        std::map<std::size_t, std::string> bound{};
        std::vector<std::pair<std::size_t, testing::token_number>> grants{};  // that it was told of, in this order
        std::vector<extension> extensions{};
        std::vector<renewal> renewals{};
        testing::token_number guard{0};  // that it has climbed to; 0: it has not
        std::vector<climb> climbs{};
    };

    picture look(server& s) const;
    bool is_gone(server const& s, std::optional<time_point> expires) const;
    void say_what_expired(server& s, detail::command const& c, picture& before, picture const& now);
    void say_single_changes(server const& s, picture const& before, picture const& now);
    void changed_each(server const& s, detail::command const& c, std::string_view learned, picture& before, picture const& now,
                      bool granted);
    std::string number_of(server const& s, detail::command const& c, duration sent) const;
    void begin_to_climb(std::string const& value, attempt& a, process const& p, server const& to, detail::command const& c);
    void climbed(std::string const& value, attempt& a, climb& c);
    void settle_climb(std::string const& value, attempt& a, climb& c);
    void decide(std::string const& value, attempt& a, testing::token_number token);
    void complete(std::string const& value, attempt& a, testing::token_number token);
    void settle(std::string const& value, attempt& a);
    void give_up_what_is_late();
    std::size_t told(attempt const& a, testing::token_number token) const;
    std::optional<testing::token_number> plausible_token(attempt const& a) const;
    static std::string changes(picture const& before, picture const& now);
    void line(std::string text, std::string const& changed = {});

    universe& universe_;
    std::string text_;
    std::vector<picture> known_;
    std::map<std::string, attempt, std::less<>> attempts_;
    std::set<std::string> names_;
    std::map<std::size_t, std::map<std::size_t, testing::token_number>> marks_heard_;  // by client and node
    std::map<std::size_t, std::size_t> machines_;
    std::size_t extensions_{0};
    std::size_t drains_{0};
    std::size_t climbs_{0};
    std::optional<std::size_t> on_behalf_of_{};
    duration sent_at_{};
};

}  // namespace redlock::simulation

#endif
