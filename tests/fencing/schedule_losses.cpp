// How nodes of a schedule lose what they know, and how they are admitted again.
#include "schedule.hpp"

#include <algorithm>

namespace redlock::fencing {

// A node more may be lost while one is not admitted, but not often: then everything stops, as it should.
void schedule::lose()
{
    if (losses_left_ == 0) return;
    bool const any = chance_.one_in(8);
    auto const index = chance_.below(node_count);
    auto const kind = chance_.below(20);
    bool all = true;
    for (auto& n : world_.nodes) all = all && n.admitted();
    if (!all && !any) return;
    loss what = kind < 4 ? loss::flush : kind < 11 ? loss::forget : kind < 18 ? loss::roll_back : loss::false_alarm;
    if (real_losses_) what = kind < 8 ? loss::restart : kind < 16 ? loss::restart_from_file : loss::demote;
    --losses_left_;
    ++result_.losses;
    world_.nodes[index].lose(what, name_, world_.empty);
    log_.lost(index);
    if (chance_.one_in(3)) notice_loss(index);  // by somebody who is no client of ours
}

void schedule::notice_loss(std::size_t of)
{
    auto const working = std::count_if(admissions_.begin(), admissions_.end(),
                                       [&](admission const& a) { return a.of == of && a.at != admission::phase::over; });
    if (working >= 2 || (working == 1 && !chance_.one_in(4))) return;
    admission a;
    a.of = of;
    admissions_.push_back(a);
    if (!chance_.one_in(4)) mark_loss(admissions_.back());
    if (!chance_.one_in(4)) advance(admissions_.back());
}

void schedule::advance_admission()
{
    if (admissions_.empty()) return;
    advance(admissions_[chance_.below(admissions_.size())]);
}

void schedule::advance(admission& a)
{
    if (a.at == admission::phase::marking) mark_loss(a);
    if (a.at == admission::phase::waiting && clock_ >= a.drained) admit(a);
}

// The answer may get lost on its way: then the next try finds its own mark, or another loss.
void schedule::mark_loss(admission& a)
{
    auto& on = world_.nodes[a.of];
    auto const seen = on.look();
    auto const answer = on.run(detail::mark_script(), node_keys(), {seen.id, fresh_name()});
    int const code = number(answer);
    bool const answer_is_lost = chance_.one_in(10);
    if (code == 0 || code == 1) log_.marked(a.of, answer.items.at(1), seen.id, answer_is_lost ? "-" : name_of(a));
    if (answer_is_lost) return;
    if (code == 2) a.at = admission::phase::over;
    if (code != 0 && code != 1) return;
    a.id = seen.id;
    a.mark = answer.items.at(1);
    a.drained = clock_ + (mutant_ == mutant::no_drain ? 0 : ttl);
    a.at = admission::phase::waiting;
}

void schedule::admit(admission& a)
{
    give_up_what_is_late();
    std::vector<std::pair<std::size_t, token_number>> read;
    token_number const base = mutant_ == mutant::no_catch_up ? 0 : high_water_elsewhere(a, read);
    if (base < 0) return;
    log_.sends_an_admission(a.of, name_of(a), a.id, a.mark, base, read);
    auto const answer = number(
        world_.nodes[a.of].run(detail::admit_script(), node_keys(), {a.id, std::to_string(base), std::to_string(maxttl_ms), a.mark}));
    log_.admitted(a.of, a.id, a.mark, base, answer == 1);
    if (answer == 1) ++result_.admissions;
    if (answer == 1 && chance_.one_in(3)) return;  // sent again later, as its answer got lost
    a.at = answer == 1 || answer == 2 ? admission::phase::over : admission::phase::marking;
}

// -1: too few of the others are admitted.
std::int64_t schedule::high_water_elsewhere(admission const& a, std::vector<std::pair<std::size_t, token_number>>& read)
{
    token_number highest = 0;
    for (std::size_t i = 0; i < node_count; ++i) {
        if (i == a.of) continue;
        auto const facts = world_.nodes[i].run(detail::inspect_script(), node_keys(), {}).items;
        bool const intact = facts.at(1) == "master" && !facts[5].empty() && facts[4].starts_with(facts[0]);
        if (!intact) continue;
        log_.reads(i, name_of(a), facts);
        read.emplace_back(i, std::stoll(facts[5]));
        highest = std::max(highest, read.back().second);
    }
    return read.size() < intact_needed ? -1 : highest;
}

}  // namespace redlock::fencing
