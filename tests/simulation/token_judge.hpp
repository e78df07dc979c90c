// What must hold of tokens: promises 1 to 3 of the proof. It knows attempts and extensions by the messages that are sent.
#ifndef REDLOCK_TESTS_SIMULATION_TOKEN_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_TOKEN_JUDGE_HPP

#include "lease_facts.hpp"
#include "process.hpp"
#include "protocol/command.hpp"
#include "server.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace redlock::simulation {

class judge;

class token_judge {
public:
    explicit token_judge(judge& rules) : rules_{rules} {}

    // An attempt with tokens is sent; a server has granted a climb, executed an extension, or has the value in its key and the token in its
    // counter.
    void sent(detail::command const& attempt);
    void climbs(std::size_t server, detail::command const& c);
    void extends(detail::command const& extension);
    void confirms(server& s, detail::command const& c, token_number token);

    // The requests of an adopted lease carry this guard.
    void note_guard(std::string const& value, token_number guard) { guards_.try_emplace(value, guard); }

    bool is_of_permits(std::string const& value) const;

    // The value of a lease, by its token. Of readers, also whether it is sure.
    std::string find_value(lease_facts& w) const;

    // A lease begins: its tokens are its own, and above those before it.
    void begins(lease_facts& w);

    // The end of a lease was moved: nobody with a larger token was complete by then.
    void check_proof(lease_facts const& w);

    // On how many servers an extension would not be refused.
    std::size_t can_be_extended(lease_facts const& w) const;

private:
    // An attempt, as far as messages tell.
    struct attempt {
        duration began{};
        std::string name{};
        token_number reserved{1};
        bool reads{false};
        bool of_permits{false};  // then the name is that of all slots, and each event is about some
        struct event {
            token_number token;
            std::uint32_t servers;  // that confirmed it, a bit each
            std::string slots{};
        };
        std::vector<event> confirmed{};
        token_number guard{0};  // the largest that an extension was executed with
        std::map<token_number, std::uint32_t> climbs{};  // to that guard, and the servers that granted it, a bit each
    };
    // The tokens of a lease. What one hold passes on are leases of their own, with tokens of their own, of one attempt.
    struct owned {
        std::string by;
        token_number first;
        token_number last;
        bool reads;
        duration began;  // its attempt
        duration completed;  // at the latest
    };

    void compare_tokens(std::string const& name, owned const& mine);
    bool keeps(server& s, lease_facts const& w, std::string const& name, token_number guard) const;
    std::size_t servers_that_gave(attempt const& a, lease_facts const& w) const;
    duration first_of_readers(lease_facts const& w) const;
    token_number guard_of(std::string const& value) const;

    judge& rules_;
    std::unordered_map<std::string, attempt> attempts_;  // by value
    std::map<std::string, std::vector<owned>> tokens_;  // by name
    std::unordered_map<std::string, token_number> guards_;  // of adopted leases, by value
};

}  // namespace redlock::simulation

#endif
