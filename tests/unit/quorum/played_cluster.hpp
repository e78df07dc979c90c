// Nodes that answer at once, and a quorum::admission that asks them.
#ifndef REDLOCK_TESTS_UNIT_QUORUM_PLAYED_CLUSTER_HPP
#define REDLOCK_TESTS_UNIT_QUORUM_PLAYED_CLUSTER_HPP

#include "quorum/admission.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

using namespace std::chrono_literals;

inline constexpr time_point origin{1h};
inline constexpr token_number wall_clock = 1'000'000;
using kind = admission_request::kind;

struct cluster {
    explicit cluster(std::size_t count, bool bootstrap = false, bool recovers = true)
        : servers(count),
          rules{count,
                {.max_ttl = 30s,
                 .clock_drift = 0.01,
                 .bootstrap = bootstrap,
                 .fresh_mark = [this] { return "mark" + std::to_string(++marks); },
                 .wall_clock = [] { return wall_clock; },
                 .recovers = recovers}}
    {
    }

    struct server {
        node_facts facts{"id1", true, {}, {}, 0, {}};
        bool reachable{true};
        bool refuses{false};  // marks, whatever it says of itself
        bool refuses_admission{false};  // and forgets its mark
        std::optional<time_point> kept_since{};  // its start, if it shows that it has lost nothing since
    };

    void connect(std::size_t i)
    {
        server& s = servers[i];
        s.facts.without_loss = s.kept_since && s.facts.admitted != s.facts.id ? now - *s.kept_since : duration::zero();
        rules.on_facts(i, s.facts, now, now);
    }
    void connect_all()
    {
        for (std::size_t i = 0; i < servers.size(); ++i)
            if (servers[i].reachable) connect(i);
    }

    // A node that was admitted long ago.
    void was_admitted(std::size_t i, token_number high_water, duration max_ttl = 30s)
    {
        servers[i].facts.admitted = servers[i].facts.id;
        servers[i].facts.high_water = high_water;
        servers[i].facts.max_ttl = max_ttl;
    }

    void restart_empty(std::size_t i)
    {
        servers[i].facts = {servers[i].facts.id + "'", true, {}, {}, 0, {}};
        rules.on_gone(i);
        connect(i);
    }

    // Answers what is asked until nothing more is; returns what was asked.
    std::vector<admission_request> settle()
    {
        std::vector<admission_request> all;
        for (;;) {
            auto const asked = rules.requests(now);
            if (asked.empty()) return all;
            BOOST_REQUIRE(rules.requests(now).empty());  // while an answer is awaited
            for (auto const& r : asked) {
                all.push_back(r);
                answer(r);
            }
            BOOST_REQUIRE(all.size() < 100u);
        }
    }

    void answer(admission_request const& r)
    {
        auto& f = servers[r.node].facts;
        switch (r.what) {
        case kind::inspect: return connect(r.node);
        case kind::mark:
            if (f.id != r.id || f.admitted == f.id || servers[r.node].refuses) return rules.on_marked(r.node, std::nullopt, now);
            if (f.mark.empty()) f.mark = r.mark;
            return rules.on_marked(r.node, f.mark, now, noted);
        case kind::admit: {
            bool const here = f.id == r.id && f.mark == r.mark && !r.mark.empty() && !servers[r.node].refuses_admission;
            if (here) {
                f.admitted = f.id;
                f.high_water = std::max(f.high_water, r.base);
                f.max_ttl = std::max(f.max_ttl, r.max_ttl);
                f.mark.clear();
            }
            if (servers[r.node].refuses_admission) f.mark.clear();
            return rules.on_admit_answered(r.node, here || f.admitted == f.id, now);
        }
        }
    }

    static std::size_t count(std::vector<admission_request> const& all, kind what)
    {
        return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [&](auto const& r) { return r.what == what; }));
    }

    std::vector<server> servers;
    std::vector<mark_sighting> noted;  // by other processes of the machine
    int marks{0};
    time_point now{origin};
    admission rules;
};

inline constexpr duration drain = 30s + 300ms + expiry_granularity;

}  // namespace redlock::quorum

#endif
