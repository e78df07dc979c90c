#include "schedule.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

// Two faults that would undo each other.
bool meet(fault const& a, fault const& b)
{
    constexpr auto needs_the_spare = [](fault const& f) { return f.kind == fault_kind::replica_attached || f.kind == fault_kind::demoted; };
    if (a.kind == b.kind || (needs_the_spare(a) && needs_the_spare(b))) return true;
    if (a.nodes.empty() && b.nodes.empty()) return true;  // one of the workers
    return std::any_of(a.nodes.begin(), a.nodes.end(), [&](std::size_t n) { return std::ranges::find(b.nodes, n) != b.nodes.end(); });
}

}  // namespace

schedule::schedule(std::uint64_t seed, std::vector<fault_kind> kinds) : random_{seed}, kinds_{std::move(kinds)}
{
    if (kinds_.empty()) throw std::invalid_argument{"a schedule of no faults"};
    for (std::size_t i = kinds_.size() - 1; i > 0; --i) std::swap(kinds_[i], kinds_[random_.below(i + 1)]);
}

phase schedule::next()
{
    bool const first_pass = drawn_ < kinds_.size();
    phase next;
    next.faults.push_back(draw(first_pass ? kinds_[drawn_] : kinds_[random_.below(kinds_.size())]));
    if (!first_pass && random_.percent(35)) {
        auto second = draw(kinds_[random_.below(kinds_.size())]);
        auto const& first = next.faults.front();
        if (!meet(first, second) && first.nodes.size() + second.nodes.size() <= minority) next.faults.push_back(std::move(second));
    }
    next.settle = milliseconds{random_.between(150, 450)};
    ++drawn_;
    return next;
}

fault schedule::draw(fault_kind kind)
{
    auto const& t = traits(kind);
    fault what{.kind = kind, .nodes = {}};
    choose_nodes(what);
    // The first two stay until the end: what they use is watched.
    what.worker = kind == fault_kind::kill_worker ? 2 + random_.below(worker_count - 2) : random_.below(worker_count);
    what.length = milliseconds{random_.between(t.min_length.count(), t.max_length.count())};
    what.size = random_.between(t.min_size, t.max_size);
    if (kind == fault_kind::clock_fast) what.size = random_.percent(70) ? t.max_size : t.min_size;
    return what;
}

void schedule::choose_nodes(fault& what)
{
    using enum fault_kind;
    switch (what.kind) {
    case kill_without_memory: what.nodes = {random_.one_in(2) ? std::size_t{0} : std::size_t{4}}; return;
    case kill_rdb: what.nodes = {1}; return;
    case kill_everysec: what.nodes = {2}; return;
    case kill_always: what.nodes = {3}; return;
    default: break;
    }
    auto const& t = traits(what.kind);
    // A minority most of the time, where either is possible.
    auto most = t.max_nodes;
    if (t.min_nodes <= minority && most > minority && random_.percent(60)) most = minority;
    auto const count = static_cast<std::size_t>(random_.between(static_cast<std::int64_t>(t.min_nodes), static_cast<std::int64_t>(most)));
    std::array<std::size_t, node_count> all{0, 1, 2, 3, 4};
    for (std::size_t i = 0; i < count; ++i) {
        std::swap(all[i], all[i + random_.below(node_count - i)]);
        what.nodes.push_back(all[i]);
    }
    std::ranges::sort(what.nodes);
}

}  // namespace redlock::faults
