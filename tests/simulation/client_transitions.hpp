// What the transition log says of clients: what they send, what they hear, and what they decide by it. That they have decided is seen by
// what they do then, since nothing looks into a client.
#ifndef REDLOCK_TESTS_SIMULATION_CLIENT_TRANSITIONS_HPP
#define REDLOCK_TESTS_SIMULATION_CLIENT_TRANSITIONS_HPP

#include "clocks.hpp"
#include "process.hpp"
#include "server.hpp"
#include "transition_text.hpp"

#include "protocol/command.hpp"
#include "protocol/reply.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::simulation {

class universe;

class client_transitions {
public:
    client_transitions(universe& of, transition_text& to) : universe_{of}, to_{to} {}

    void sent(process const& p, server const& to, detail::command const& c, std::string_view learned, bool is_on_its_way);
    void heard(std::size_t client, server const& from, detail::command const& c, detail::reply const& answer, duration sent);
    void killed(std::size_t client);

    // The end of a message has left this vote as it was.
    void counted(server& s, detail::command const& c, std::string_view learned, duration sent);

    // The holder has these tokens of the lease with this value.
    void held(std::string const& value, testing::token_number first, testing::token_number last);

    // The end of the lease has moved: what it stands on was sent at this moment, or later.
    void moved_on(std::string const& value, duration since);

    // Attempts and climbs whose time is over have ended.
    void give_up_what_is_late();

    // The number of the extension, or the climb, that the message belongs to; "-" if none is known.
    std::string number_of(server const& s, detail::command const& c, duration sent) const;

private:
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

    void sent_acquire(process const& p, server const& to, detail::command const& c, std::string_view learned, bool is_on_its_way);
    void sent_admission(process const& p, server const& to, detail::command const& c);
    void sent_extension(std::string const& value, attempt& a, server const& to, detail::command const& c);
    void begin_to_climb(std::string const& value, attempt& a, process const& p, server const& to, detail::command const& c);
    void climbed(std::string const& value, attempt& a, climb& c);
    void settle_climb(std::string const& value, attempt& a, climb& c);
    void decide(std::string const& value, attempt& a, testing::token_number token);
    void complete(std::string const& value, attempt& a, testing::token_number token);
    void settle(std::string const& value, attempt& a);
    std::size_t told(attempt const& a, testing::token_number token) const;
    std::optional<testing::token_number> plausible_token(attempt const& a) const;

    universe& universe_;
    transition_text& to_;
    std::map<std::string, attempt, std::less<>> attempts_;  // by value
    std::map<std::size_t, std::map<std::size_t, testing::token_number>> marks_heard_;  // by client and node
    std::size_t extensions_{0};
    std::size_t climbs_{0};
};

}  // namespace redlock::simulation

#endif
