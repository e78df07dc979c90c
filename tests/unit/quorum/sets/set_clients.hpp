// Clients over servers that answer at once, one request at a time, for tests of quorum::set_membership.
#ifndef REDLOCK_TESTS_UNIT_QUORUM_SET_CLIENTS_HPP
#define REDLOCK_TESTS_UNIT_QUORUM_SET_CLIENTS_HPP

#include "quorum/sets/set_membership.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::quorum {

struct fake_server {
    std::string id;
    std::string set{};
    bool admitted{false};
    bool reachable{true};
    bool master{true};
    token_number high_water{0};

    // In another generation of its set it has another one.
    std::string bound_id() const { return std::string{binding_in(set)} + id; }
};

using servers = std::map<std::string, fake_server>;

inline servers five(bool admitted)
{
    servers all;
    for (char const* name : {"A", "B", "C", "D", "E"}) all[name] = {std::string{"id-"} + name, {}, admitted};
    return all;
}

// One client, with the list of nodes that it has.
struct lister {
    lister(servers& of, std::vector<std::string> list, std::string name = {}, std::size_t shard = 0, std::size_t shards = 0)
        : all{&of}, nodes{list}, sets{make(std::move(list), std::move(name), shard, shards)}
    {
    }

    static set_settings make(std::vector<std::string> list, std::string name, std::size_t shard, std::size_t shards)
    {
        static int ids = 0;
        return {std::move(list),
                std::move(name),
                shard,
                shards,
                [] { return "set" + std::to_string(++ids); },
                [] { return token_number{1'795'000'000'000'000}; },
                std::chrono::seconds{30}};
    }

    fake_server& at(std::size_t i) { return all->at(nodes[i]); }

    void tell(std::size_t i)
    {
        fake_server const& s = at(i);
        if (!s.reachable) return sets.on_gone(i);
        node_facts f;
        f.id = s.bound_id();
        f.master = s.master;
        f.admitted = s.admitted ? f.id : "";
        f.set = s.set;
        sets.on_facts(i, f, now, now);
    }
    void tell_all()
    {
        for (std::size_t i = 0; i < nodes.size(); ++i) tell(i);
    }

    void carry_out(set_claim const& c)
    {
        fake_server& s = at(c.node);
        if (!s.reachable || s.bound_id() != c.id) return sets.on_claimed(c.node, std::nullopt, now, now);
        if (s.set == c.expected && s.set != c.text) {
            s.admitted = s.admitted && (c.stays || binding_in(c.text).empty());
            s.set = c.text;
        }
        sets.on_claimed(c.node, s.set, now, now);
    }

    // Carries out one claim, or several that may be sent together; false: there is none.
    bool step()
    {
        auto const claims = sets.claims();
        for (set_claim const& c : claims) carry_out(c);
        return !claims.empty();
    }
    void settle()
    {
        for (int i = 0; step(); ++i) BOOST_REQUIRE(i < 100);
    }
    void begin()
    {
        tell_all();
        settle();
    }

    std::size_t refused() const
    {
        std::size_t n = 0;
        for (std::size_t i = 0; i < nodes.size(); ++i) n += !sets.objection(i).empty();
        return n;
    }

    servers* all;
    std::vector<std::string> nodes;
    set_membership sets;
    time_point now{std::chrono::hours{1}};
};

inline bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

inline std::vector<std::string> const ABC{"A", "B", "C"};

inline servers founded()
{
    auto all = five(true);
    for (char const* name : {"D", "E"}) all[name].admitted = false;
    lister{all, ABC}.begin();
    return all;
}

}  // namespace redlock::quorum

#endif
