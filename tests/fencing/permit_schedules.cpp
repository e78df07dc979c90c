// Random schedules of semaphores on real servers: clients that take slots, move to others, extend and release, with requests that are late, lost or
// executed twice. At no time may more than K hold, and the tokens of a slot must increase. Ends with 1 if a promise was broken, or, with --mutant, if
// none was.
#include "drive.hpp"
#include "nodes.hpp"

#include "protocol/scripts.hpp"
#include "protocol/semaphore.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace redlock::fencing;
namespace detail = redlock::detail;

constexpr std::size_t permit_nodes = 3;
constexpr std::size_t permit_majority = 2;
constexpr std::size_t slot_count = 2;  // K
constexpr std::size_t slots_of_others = 3;  // of clients that are told another K
constexpr std::int64_t time_to_live = 60;  // in ticks
std::string const semaphore_name = "s";

enum class permit_mutant : std::uint8_t { none, mixed, one_vote, any_k, no_confirm };
constexpr std::array<std::string_view, 5> permit_mutant_names{"none", "mixed", "one_vote", "any_k", "no_confirm"};

std::string slot_key(std::size_t i) { return semaphore_name + "#" + std::to_string(i); }

detail::script const& acquire_of(permit_mutant m)
{
    if (m != permit_mutant::any_k) return detail::semaphore_acquire_script();
    static std::string const text = [] {
        std::string changed{detail::semaphore_acquire_script().text};
        std::string const compared = "if permits and permits ~= ARGV[7] and not newer then";
        return changed.replace(changed.find(compared), compared.size(), "if false then");
    }();
    static detail::script const s = detail::make_script(text);
    return s;
}

using permit_world = std::array<node, permit_nodes>;

struct permit_outcome {
    std::uint64_t attempts{0};
    std::uint64_t completed{0};
    std::uint64_t moved{0};
    std::uint64_t refused{0};  // votes, because of another K
    std::uint64_t full{0};  // steps with all permits held
    std::string violation{};

    void add(permit_outcome const& other)
    {
        attempts += other.attempts;
        completed += other.completed;
        moved += other.moved;
        refused += other.refused;
        full += other.full;
    }
};

class permit_schedule {
public:
    permit_schedule(permit_world& nodes, std::uint64_t seed, permit_mutant m) : nodes_{nodes}, chance_{seed}, mutant_{m}, seed_{seed}
    {
        attempts_.reserve(max_attempts);
    }

    permit_outcome run()
    {
        for (auto& n : nodes_) {
            n.reset();
            ids_.push_back(n.look().id);
            n.run(detail::semaphore_keep_script(), {"redlock:node", "redlock:hw", semaphore_name + ":permits"},
                  {ids_.back(), "1", std::to_string(slot_count), "600000"});
        }
        for (int i = 0; i < 200 && seen_.violation.empty(); ++i) {
            ++clock_;
            act();
            check();
        }
        seen_.attempts = attempts_.size();
        return seen_;
    }

private:
    static constexpr std::size_t max_attempts = 24;
    enum class phase : std::uint8_t { asking, moving, confirming, leased, over };
    enum class verb : std::uint8_t { acquire, acquire_slot, confirm, release };

    struct attempt {
        std::string value{};
        std::size_t k{slot_count};
        phase at{phase::asking};
        std::size_t start{0};
        std::array<int, permit_nodes> slot{-1, -1, -1};  // that the node gave
        std::array<token_number, permit_nodes> counters{};
        std::array<std::string, permit_nodes> maps{};
        std::array<bool, permit_nodes> answered{};
        std::array<bool, permit_nodes> confirmed{};
        std::size_t goal{0};
        token_number token{0};
        std::int64_t began{0}, completed{0}, deadline{0};
    };
    struct request {
        verb what{};
        std::size_t on{0}, by{0}, slot{0};
        bool executed{false};
        std::string answer{};
    };

    void act()
    {
        auto const what = chance_.below(100);
        if (what < 45) return execute();
        if (what < 75) return deliver();
        if (what < 84) return begin();
        if (what < 90) return use();
        if (what < 95) return expire();
        clock_ += chance_.between(1, time_to_live / 2);
    }

    void begin()
    {
        if (attempts_.size() >= max_attempts) return;
        attempt a;
        a.value = "v" + std::to_string(attempts_.size());
        a.k = chance_.one_in(5) ? slots_of_others : slot_count;
        a.start = chance_.below(a.k);
        a.began = clock_;
        a.deadline = clock_ + time_to_live;
        attempts_.push_back(a);
        for (std::size_t n = 0; n < permit_nodes; ++n) requests_.push_back({verb::acquire, n, attempts_.size() - 1, 0, false, {}});
    }

    void execute()
    {
        if (requests_.empty()) return;
        auto const index = chance_.below(requests_.size());
        if (chance_.one_in(12)) {
            if (requests_[index].what != verb::release) requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(index));  // lost
            return;
        }
        request r = requests_[index];
        if (!chance_.one_in(12)) requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(index));  // else executed again, some time
        run_on_node(r);
        if (r.what != verb::release) replies_.push_back(r);
    }

    void run_on_node(request& r)
    {
        auto& on = nodes_[r.on];
        attempt const& a = attempts_[r.by];
        auto const slot = slot_key(r.slot);
        switch (r.what) {
        case verb::acquire:
        case verb::acquire_slot: {
            words keys{"redlock:node", "redlock:hw", semaphore_name + ":permits"};
            std::size_t const first = r.what == verb::acquire ? 0 : r.slot;
            std::size_t const end = r.what == verb::acquire ? a.k : r.slot + 1;
            for (auto i = first; i < end; ++i) keys.push_back(slot_key(i));
            for (auto i = first; i < end; ++i) keys.push_back(slot_key(i) + ":fence");
            auto const from = std::to_string(r.what == verb::acquire ? a.start : 0);
            r.answer = on.run(acquire_of(mutant_), keys,
                              {ids_[r.on], a.value, "600000", "0", "1", "600000", std::to_string(a.k), "1", from, "1"})
                           .text;
            for (auto i = first; i < end; ++i)  // a late one begins anew
                if (r.answer.substr(0, 2) == "1 " && on.ask({"GET", slot_key(i)}).text == a.value)
                    ends_[r.on][slot_key(i)] = clock_ + time_to_live;
            break;
        }
        case verb::confirm:
            r.answer = on.run(detail::fence_confirm_script(), {slot, slot + ":fence", "redlock:node", "redlock:hw"},
                              {ids_[r.on], a.value, std::to_string(a.token), "600000"})
                           .text;
            break;
        case verb::release: r.answer = on.run(detail::release_script(), {slot}, {a.value}).text; break;
        }
    }

    void deliver()
    {
        if (replies_.empty()) return;
        auto const index = chance_.below(replies_.size());
        request const r = replies_[index];
        replies_.erase(replies_.begin() + static_cast<std::ptrdiff_t>(index));
        attempt& a = attempts_[r.by];
        if (a.at == phase::over || a.at == phase::leased) return;
        if (clock_ >= a.deadline) return end(a);
        std::istringstream text{r.answer};
        int code = 0;
        token_number counter = 0;
        std::string map;
        text >> code >> counter >> map;
        if (r.what == verb::confirm && a.at == phase::confirming && code == 1) a.confirmed[r.on] = true;
        if (r.what == verb::acquire && a.at == phase::asking && !a.answered[r.on]) {
            a.answered[r.on] = true;
            if (code == -7) ++seen_.refused;
            a.maps[r.on] = code >= 0 ? map : std::string(a.k, '1');
            if (code == 1) {
                a.slot[r.on] = static_cast<int>(map.find('2'));
                a.counters[r.on] = counter;
            }
            if (std::count(a.answered.begin(), a.answered.end(), true) == permit_nodes || chance_.one_in(4)) choose(a);
        }
        if (r.what == verb::acquire_slot && a.at == phase::moving && code == 1) {
            a.slot[r.on] = static_cast<int>(r.slot);
            a.counters[r.on] = counter;
            try_slot(a, a.goal);
        }
        complete(a);
    }

    // The slot that most nodes gave, or showed free.
    void choose(attempt& a)
    {
        for (std::size_t s = 0; s < a.k; ++s)
            if (try_slot(a, s)) return;
        std::size_t best = 0;
        std::size_t most = 0;
        for (std::size_t i = 0; i < a.k; ++i) {
            auto const s = (a.start + i) % a.k;
            std::size_t nodes = 0;
            for (std::size_t n = 0; n < permit_nodes; ++n)
                nodes += a.slot[n] == static_cast<int>(s) || (!a.maps[n].empty() && a.maps[n][s] == '0') ? 1 : 0;
            if (nodes > most) best = s, most = nodes;
        }
        if (most < permit_majority) return std::count(a.answered.begin(), a.answered.end(), true) == permit_nodes ? end(a) : void();
        a.goal = best;
        a.at = phase::moving;
        ++seen_.moved;
        for (std::size_t n = 0; n < permit_nodes; ++n) {
            if (a.slot[n] == static_cast<int>(best)) continue;
            requests_.push_back({verb::acquire_slot, n, index_of(a), best, false, {}});
            if (a.slot[n] >= 0) requests_.push_back({verb::release, n, index_of(a), static_cast<std::size_t>(a.slot[n]), false, {}});
            a.slot[n] = -1;
        }
    }

    bool try_slot(attempt& a, std::size_t s)
    {
        std::size_t votes = 0;
        a.token = 0;
        for (std::size_t n = 0; n < permit_nodes; ++n) {
            bool const counts = mutant_ == permit_mutant::mixed ? a.slot[n] >= 0 : a.slot[n] == static_cast<int>(s);
            votes += counts ? 1 : 0;
            if (counts) a.token = std::max(a.token, a.counters[n]);
        }
        if (votes < (mutant_ == permit_mutant::one_vote ? 1 : permit_majority)) return false;
        a.goal = s;
        a.at = phase::confirming;
        for (std::size_t n = 0; n < permit_nodes; ++n) {
            bool const counts = mutant_ == permit_mutant::mixed ? a.slot[n] >= 0 : a.slot[n] == static_cast<int>(s);
            a.confirmed[n] = counts &&
                             (a.counters[n] == a.token || mutant_ == permit_mutant::no_confirm || mutant_ == permit_mutant::mixed);
            if (counts && !a.confirmed[n]) requests_.push_back({verb::confirm, n, index_of(a), s, false, {}});
            if (!counts && a.slot[n] >= 0)
                requests_.push_back({verb::release, n, index_of(a), static_cast<std::size_t>(a.slot[n]), false, {}});
        }
        return true;
    }

    void complete(attempt& a)
    {
        if (a.at != phase::confirming) return;
        auto const votes = static_cast<std::size_t>(std::count(a.confirmed.begin(), a.confirmed.end(), true));
        if (votes < (mutant_ == permit_mutant::one_vote ? 1 : permit_majority)) return;
        a.at = phase::leased;
        a.completed = clock_;
        ++seen_.completed;
        if (a.k != slot_count) fail("a client with another K holds a permit");
        for (attempt const& b : attempts_) {
            if (&b == &a || b.completed == 0 || b.goal != a.goal) continue;
            if (b.token == a.token || (b.completed < a.began && b.token > a.token)) fail("tokens of a slot: " + b.value + ", " + a.value);
        }
    }

    void end(attempt& a)
    {
        a.at = phase::over;
        if (chance_.one_in(6)) return;
        for (std::size_t n = 0; n < permit_nodes; ++n)
            for (std::size_t s = 0; s < a.k; ++s) requests_.push_back({verb::release, n, index_of(a), s, false, {}});
    }

    void use()
    {
        for (attempt& a : attempts_)
            if (a.at == phase::leased && (clock_ >= a.deadline || chance_.one_in(3))) return end(a);
    }

    // Slots whose time is over.
    void expire()
    {
        for (std::size_t n = 0; n < permit_nodes; ++n)
            for (auto const& [key, until] : ends_[n])
                if (clock_ >= until) nodes_[n].ask({"DEL", key});
    }

    void check()
    {
        auto const holders = static_cast<std::size_t>(std::count_if(attempts_.begin(), attempts_.end(), [&](attempt const& a) {
            return a.at == phase::leased && clock_ < a.deadline;
        }));
        if (holders > slot_count) fail(std::to_string(holders) + " hold at the same time");
        if (holders == slot_count) ++seen_.full;
    }

    void fail(std::string const& what)
    {
        if (seen_.violation.empty()) seen_.violation = "seed=" + std::to_string(seed_) + ": " + what;
    }
    std::size_t index_of(attempt const& a) const { return static_cast<std::size_t>(&a - attempts_.data()); }

    permit_world& nodes_;
    redlock::simulation::random chance_;
    permit_mutant mutant_;
    std::uint64_t seed_;
    permit_outcome seen_{};
    std::int64_t clock_{1};
    std::vector<std::string> ids_{};
    std::vector<attempt> attempts_{};
    std::vector<request> requests_{};
    std::vector<request> replies_{};
    std::array<std::map<std::string, std::int64_t>, permit_nodes> ends_{};
};

}  // namespace

int main(int argc, char** argv)
{
    CLI::App app{"Random schedules of semaphores on real servers"};
    drive_choices chosen{app, permit_mutant_names};
    CLI11_PARSE(app, argc, argv);

    driven<permit_outcome> all;
    drive<permit_world>(all, chosen, [&](permit_world& world, std::uint64_t seed) {
        return permit_schedule{world, seed, chosen.mutant<permit_mutant>()}.run();
    });
    std::printf("schedules=%llu attempts=%llu completed=%llu moved=%llu steps_with_all_permits_held=%llu votes_refused_for_another_k=%llu "
                "violations=%llu\n",
                printed(all.schedules), printed(all.sum.attempts), printed(all.sum.completed), printed(all.sum.moved),
                printed(all.sum.full), printed(all.sum.refused), printed(all.violations));
    return verdict(all, chosen);
}
