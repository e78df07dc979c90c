// Nodes that lose their memory, connections that end, other clients that mark and admit, answers that are late or never come, and
// clocks that jump forward. Each request to admit a node must be one that docs/proof.md allows, judged by what the nodes said.
#include "input.hpp"

#include "quorum/admission.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using namespace quorum;
using namespace std::chrono_literals;
using kind = admission_request::kind;

constexpr time_point start{1h};
constexpr duration max_ttl = 30s;
constexpr token_number wall_clock = 1'000;

// A drain as docs/proof.md wants it, for leases of at most `longest`.
duration drain_of(duration longest) { return longest + longest / 100 + expiry_granularity; }

duration jump(input& in)
{
    switch (in.below(4)) {
    case 0: return {};
    case 1: return std::chrono::milliseconds{in.byte()};
    case 2: return std::chrono::seconds{in.byte() / 4};
    default: return 30'302ms;
    }
}

// A server, and what this client has heard of it.
struct server {
    node_facts is{"id0", true, {}, {}, 0, {}};
    std::uint64_t lives{0};
    bool connected{false};

    std::optional<admission_request> asked;
    time_point asked_at{};

    std::optional<node_facts> said;  // the last facts; none: not connected, or never
    time_point said_at{};            // when they were asked for
    std::string mark;                // heard last, of the loss that was said
    time_point marked_at{};
};

class cluster {
public:
    cluster(std::size_t nodes, bool bootstrap)
        : servers_(nodes),
          fresh_{bootstrap},
          rules_{nodes, {max_ttl, 0.01, bootstrap, [this] { return "m" + std::to_string(++marks_); }, [] { return wall_clock; }}}
    {
    }

    void play(input& in)
    {
        for (server& s : servers_) remember(s, in);
        for (int events = 0; events < 300 && !in.empty(); ++events) {
            pass_time(in);
            one_event(in);
            ask();
            check_nobody_waits_for_ever();
        }
    }

private:
    // Also to the very moment at which something is due, or just before it.
    void pass_time(input& in)
    {
        auto const next = rules_.next(now_);
        if (next && in.below(4) == 3) now_ = std::max(now_, *next - (in.flag() ? 1ns : 0ns));
        else now_ += jump(in);
    }

    // What a server is when the story begins.
    void remember(server& s, input& in)
    {
        if (in.flag()) return;
        s.is.admitted = s.is.id;
        s.is.high_water = in.byte();
        s.is.max_ttl = std::chrono::seconds{10 + in.below(60)};
    }

    void one_event(input& in)
    {
        std::size_t const i = in.below(servers_.size());
        server& s = servers_[i];
        switch (in.below(10)) {
        case 0: return lose_memory(s, in);
        case 1: return act_like_another_client(s, in);
        case 2: return disconnect(i);
        case 3:
            if (s.connected) in.below(2) == 0 ? rules_.on_suspect(i) : rules_.on_contradiction(i, now_);
            return;
        case 4:
            if (!s.asked) return;
            s.asked.reset();
            return rules_.on_failed(i, now_);
        default: break;
        }
        if (!s.connected) return connect(i);
        if (s.asked) answer(i);
    }

    void lose_memory(server& s, input& in)
    {
        bool const flushed = in.flag();
        if (!flushed) s.is.id = "id" + std::to_string(++s.lives);
        if (in.below(4) == 3) return;  // a restart that brings the record of before
        s.is.admitted.clear();
        s.is.mark.clear();
        s.is.high_water = 0;
        s.is.max_ttl = {};
        s.is.master = in.below(8) != 7;
    }

    void act_like_another_client(server& s, input& in)
    {
        if (in.flag() && s.is.admitted != s.is.id && s.is.mark.empty()) s.is.mark = "other" + std::to_string(++marks_);
        if (in.flag() && s.is.admitted == s.is.id) s.is.high_water += in.byte();
        if (in.below(8) == 7) admit(s, s.is.high_water + in.byte(), std::chrono::seconds{30 + in.below(60)});
    }

    static void admit(server& s, token_number base, duration ttl)
    {
        s.is.admitted = s.is.id;
        s.is.mark.clear();
        s.is.high_water = std::max(s.is.high_water, base);
        s.is.max_ttl = std::max(s.is.max_ttl, ttl);
    }

    void disconnect(std::size_t i)
    {
        server& s = servers_[i];
        s.connected = false;
        s.asked.reset();
        s.said.reset();
        s.mark.clear();
        rules_.on_gone(i);
    }

    void connect(std::size_t i)
    {
        servers_[i].connected = true;
        hear(i, time_point{});
    }

    void hear(std::size_t i, time_point asked)
    {
        server& s = servers_[i];
        // A drain goes on only where the same loss is still marked.
        if (!s.said || s.said->id != s.is.id || s.mark != s.is.mark) s.mark.clear();
        s.said = s.is;
        s.said_at = asked;
        rules_.on_facts(i, s.is, asked, now_);
        bool const may_vote = s.is.master && s.is.admitted == s.is.id;
        check((rules_.of(i) == admission_state::admitted) == may_vote, "who votes is who says that it remembers");
    }

    // The server executes it at this moment, and the answer arrives.
    void answer(std::size_t i)
    {
        server& s = servers_[i];
        auto const r = *s.asked;
        s.asked.reset();
        bool const same = s.is.id == r.id && s.is.master;
        bool const admitted = s.is.admitted == s.is.id;
        if (r.what == kind::inspect) return hear(i, s.asked_at);
        if (r.what == kind::mark) {
            if (!same || admitted) return rules_.on_marked(i, std::nullopt, now_);
            if (s.is.mark.empty()) s.is.mark = r.mark;
            if (rules_.of(i) == admission_state::uninitialized) {
                s.mark = s.is.mark;
                s.marked_at = now_;
            }
            return rules_.on_marked(i, s.is.mark, now_);
        }
        bool const done = same && !admitted && !r.mark.empty() && s.is.mark == r.mark;
        if (done) admit(s, r.base, r.max_ttl);
        rules_.on_admit_answered(i, same && s.is.admitted == s.is.id, now_);
        if (!(same && s.is.admitted == s.is.id)) s.mark.clear();
    }

    void ask()
    {
        see_whether_a_cluster_is_founded();
        for (admission_request const& r : rules_.requests(now_)) {
            server& s = servers_[r.node];
            check(s.connected, "only who is connected is asked");
            check(!s.asked, "nobody is asked twice at once");
            check(!s.said || s.said->id == r.id, "a request names the server that was heard");
            if (r.what == kind::mark) check(!r.mark.empty(), "a loss is marked with something");
            if (r.what == kind::admit) judge(r, s);
            s.asked = r;
            s.asked_at = now_;
        }
        for (admission_request const& r : rules_.requests(now_)) check(r.node == servers_.size(), "each request is given out once");
    }

    void judge(admission_request const& r, server const& s)
    {
        check(s.said && s.said->master && s.said->admitted != s.said->id, "who is admitted has lost its memory, or never had one");
        check(r.max_ttl >= max_ttl && r.max_ttl >= s.said->max_ttl, "no ttl that was allowed is forgotten");
        check(!r.mark.empty() && r.mark == s.mark, "who is admitted was marked since its loss");
        // A cluster was founded, or has recovered, since this loss.
        bool const founded = founded_at_ && s.marked_at <= *founded_at_;
        time_point const drained = s.marked_at + drain_of(longest_ttl());
        check(founded || now_ >= drained, "a drain is as long as the longest lease");
        std::size_t read = 0;
        for (server const& other : servers_) {
            if (!remembers(other) || other.said_at < drained) continue;
            ++read;
            check(r.base >= other.said->high_water && r.max_ttl >= other.said->max_ttl, "the base is above all that was read");
        }
        bool const has_caught_up = now_ >= drained && read >= others_needed();
        check(founded || has_caught_up, "ceil(N/2) others were read after the drain");
        check(has_caught_up || r.base >= wall_clock, "a founding begins with the clock");
    }

    std::size_t others_needed() const { return (servers_.size() + 1) / 2; }

    duration longest_ttl() const
    {
        duration longest = max_ttl;
        for (server const& s : servers_)
            if (remembers(s)) longest = std::max(longest, s.said->max_ttl);
        return longest;
    }

    static bool remembers(server const& s) { return s.said && s.said->master && s.said->admitted == s.said->id; }

    // The moment at which too few nodes say that they remember for the others to catch up, and nothing can be held any more of what those others granted:
    // all drained and read after the last drain, or new by the operator's word. Who was marked until then may be admitted without reading others.
    void see_whether_a_cluster_is_founded()
    {
        duration const drain = drain_of(longest_ttl());
        time_point last{};
        std::size_t remember = 0;
        bool all_say = true;
        for (server const& s : servers_) {
            all_say = all_say && s.said && s.said->master && (remembers(s) || !s.mark.empty());
            if (remembers(s)) ++remember;
            else last = std::max(last, s.marked_at + drain);
        }
        bool const drained = now_ >= last &&
                             std::all_of(servers_.begin(), servers_.end(), [last](server const& s) { return s.said_at >= last; });
        bool const nothing = std::all_of(servers_.begin(), servers_.end(),
                                         [](server const& s) { return s.said && s.said->admitted.empty() && s.said->high_water == 0; });
        if (all_say && remember < others_needed() && (drained || (fresh_ && nothing))) founded_at_ = now_;
    }

    // Whoever is connected and does not vote is asked something, or there is a moment at which it will be.
    void check_nobody_waits_for_ever() const
    {
        auto const next = rules_.next(now_);
        check(!next || *next >= now_, "the next moment is not in the past");
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            server const& s = servers_[i];
            bool const waits = s.connected && rules_.of(i) != admission_state::admitted;
            check(!waits || s.asked || next, "nobody waits for ever");
        }
    }

    std::vector<server> servers_;
    bool fresh_;
    int marks_{0};
    time_point now_{start};
    std::optional<time_point> founded_at_;
    admission rules_;
};

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock::fuzz;
    input in{data, size};
    std::size_t const nodes = 1 + in.below(7);
    bool const bootstrap = in.below(4) == 3;
    cluster{nodes, bootstrap}.play(in);
    return 0;
}
