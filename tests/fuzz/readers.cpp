// Readers and writers of one name on three servers in memory: acquires, confirmations, extensions, downgrades, releases and wishes that arrive in any
// order, twice or never, and clocks that jump forward. What docs/proof.md promises of them must hold, and each answer must have its reason.
#include "input.hpp"
#include "three_servers.hpp"

#include "testing/shared_model.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace redlock::fuzz {
namespace {

using detail::command;
using detail::duration;
using detail::reply;
using detail::time_point;
using detail::verb;
using quorum::token_number;
using namespace std::chrono_literals;

constexpr char const* name = "n";

duration jump(input& in)
{
    switch (in.below(4)) {
    case 0: return std::chrono::microseconds{in.byte()};
    case 1: return std::chrono::milliseconds{in.byte() / 8};
    case 2: return ttl / 2;
    default: return ttl + 1ms;
    }
}

struct reader_part : known_part {
    bool extended{false};  // what came before on this connection cannot arrive any more
    bool gone{false};  // released
    std::int64_t since{-1};
};

struct attempt : known_attempt<reader_part> {
    bool reads{false};
    bool was_writer{false};
    bool writes() const { return !reads; }
};

class story {
public:
    void play(input& in)
    {
        for (event_ = 1; event_ <= max_events && !in.empty(); ++event_) {
            one_event(in);
            check_exclusion();
        }
    }

private:
    void one_event(input& in)
    {
        std::size_t const what = in.below(9);
        if (what == 0 && attempts_.size() < max_attempts) return begin(in);
        if (what == 1) now_ += jump(in);
        if (what <= 1 || attempts_.empty()) return;
        attempt& a = attempts_[in.below(attempts_.size())];
        std::size_t const node = in.below(nodes);
        switch (what) {
        case 2:
        case 3: return acquire(a, node);
        case 4: return confirm(a, node);
        case 5: return extend(a, node, in.flag());
        case 6: return downgrade(a);
        case 7: return release(a, node);
        default: return wish(a, node);
        }
    }

    void begin(input& in)
    {
        attempt a;
        a.value = "v" + std::to_string(attempts_.size());
        a.reads = in.flag();
        a.floor = in.flag() ? in.byte() : 0;
        a.began = event_;
        a.sent = now_;
        attempts_.push_back(std::move(a));
    }

    reply send(attempt const& a, std::size_t node, verb what, token_number token, std::int64_t since = -1)
    {
        command c{what, name, a.value, ttl};
        c.fenced = what != verb::release && what != verb::want;
        c.shared = what != verb::want && (a.reads || (what == verb::release && a.was_writer));
        c.token = token;
        c.retention = retention;
        c.was_writer = a.was_writer;
        c.change_more().since = since;
        return servers_[node].execute(c, now_, id);
    }

    // What is there before the server executes something.
    struct sight {
        bool writer{false};  // of another attempt
        bool readers{false};
        bool wish{false};
    };
    sight look(attempt const& a, std::size_t node)
    {
        servers_[node].expire(now_);
        auto const* const e = servers_[node].stored(name);
        return {e && !e->readers && e->value != a.value, e && e->readers.has_value(),
                servers_[node].stored(testing::shared_model::want_key(name)) != nullptr};
    }

    void acquire(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || a.was_writer || part.extended || part.gone) return;
        auto const there = look(a, node);
        reply const said = send(a, node, verb::acquire, a.floor, part.since);
        if (said.vote == vote::granted) {
            check(!there.writer && (a.reads || !there.readers), "nobody is let in beside a writer, and no writer beside readers");
            part.grants(said.counter, a.sent);
            a.choose_token();
            return completes(a);
        }
        check(said.vote == vote::refused, "a server that is in order grants or refuses");
        check(there.writer || there.wish || (a.writes() && there.readers) || part.granted, "a refusal has its reason");
        check(!said.writer_waits || (there.wish && a.reads && !there.writer), "a wish keeps readers out, and only if it is there");
        if (a.reads && !said.writer_waits) part.since = static_cast<std::int64_t>(said.counter);
    }

    void confirm(attempt& a, std::size_t node)
    {
        auto& part = a.at[node];
        if (a.ended || a.token == 0 || a.was_writer || part.extended || part.gone || !part.granted || part.counter >= a.token) return;
        if (send(a, node, verb::confirm, a.token).vote != vote::granted) return;
        part.stands = true;
        completes(a);
    }

    void completes(attempt& a)
    {
        if (!a.can_complete(now_)) return;
        for (attempt const& b : attempts_) {
            if (b.complete == 0 || (a.reads && b.reads && !b.was_writer)) continue;
            check(a.token != b.token, "no writer has the token of anybody else");
            if (b.complete < a.began) check(a.token > b.token, "who begins after a writer was complete, or writes, has a larger token");
        }
        a.complete = event_;
    }

    void extend(attempt& a, std::size_t node, bool late)
    {
        if (!a.is_held(now_) || a.at[node].gone) return;
        time_point const sent = late ? now_ - std::min<duration>(ttl / 4, now_ - a.sent) : now_;
        reply const said = send(a, node, verb::extend, a.token);
        a.at[node].extended = true;
        a.at[node].is_extended(said.vote, sent);
    }

    // From now on it is a reader; the servers hear of it with the next extension.
    void downgrade(attempt& a)
    {
        if (!a.is_held(now_) || a.reads) return;
        a.reads = a.was_writer = true;
    }

    void release(attempt& a, std::size_t node)
    {
        a.ended = true;
        a.at[node].gone = true;
        send(a, node, verb::release, 0);
        servers_[node].expire(now_);
        auto const* const e = servers_[node].stored(name);
        check(!e || (e->value != a.value && !(e->readers && e->readers->ends.contains(a.value))), "what was released is gone");
    }

    void wish(attempt& a, std::size_t node)
    {
        if (a.writes() && a.complete == 0 && !a.ended) send(a, node, verb::want, 0);
    }

    void check_exclusion() const
    {
        for (attempt const& a : attempts_)
            for (attempt const& b : attempts_)
                if (&a != &b && a.writes() && a.is_held(now_)) check(!b.is_held(now_), "nobody holds the lock beside a writer");
    }

    three_servers servers_;
    std::vector<attempt> attempts_;
    std::size_t event_{0};
    time_point now_{1h};
};

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    redlock::fuzz::input in{data, size};
    redlock::fuzz::story{}.play(in);
    return 0;
}
