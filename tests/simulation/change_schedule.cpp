#include "change_schedule.hpp"

#include "belief_world.hpp"
#include "change_command.hpp"
#include "change_draw.hpp"
#include "faults.hpp"
#include "link.hpp"
#include "simulated_client.hpp"
#include "universe.hpp"

#include "quorum/sets/set_record.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace redlock::simulation {

namespace {

class change_schedule final : public belief_world {
public:
    static constexpr duration wall = 40'000 * 12h + 5h;
    static constexpr std::size_t spares = 3;

    change_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say)
        : belief_world{seed ^ 0x6368616e6765u, covered, "in a world whose set of nodes is changed", std::move(say)}
    {
        set_the_stage();
        build();
        plan_changes();
        if (!calm_) plan_faults();
        u_.at(horizon_, [this] { clear_up(); });
    }

    ~change_schedule() { end(); }

private:
    using change = change_command::order;

    void set_the_stage()
    {
        ttl_ = chance_.pick(std::array{300ms, 1'000ms, 3'000ms});
        usual_.ttl = ttl_;
        usual_.node_timeout = ttl_ / static_cast<int>(2 + chance_.below(3));
        usual_.min_retry_delay = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(ttl_ / 20));
        usual_.max_retry_delay = ttl_ / 4;
        names_ = chance_.one_in(3) ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a"};
        // Where nobody acquires a lock for a while, what a change has forgotten is not written anew.
        max_rest_ = chance_.one_in(3) ? 8 * duration{ttl_} : ttl_ / 2;
        horizon_ = chance_.between(8 * duration{ttl_}, 30 * duration{ttl_});
        calm_ = chance_.one_in(4);
        auto& w = u_.weather;
        w.min_delay = 20us;
        w.max_delay = 20us + chance_.scaled(std::min<duration>(5ms, ttl_ / 40));
        w.max_reconnect = ttl_ / 8;
        w.max_notices_after = ttl_;
        w.max_ghost_delay = 2 * ttl_;
        if (calm_) return;
        if (chance_.one_in(2)) w.slow_percent = 1 + chance_.below(30);
        w.max_slow = chance_.one_in(3) ? duration{ttl_} : ttl_ / 8;
        if (chance_.one_in(4)) w.duplicate_percent = 1 + chance_.below(10);
        if (chance_.one_in(4)) u_.pause_one_in = 16 + chance_.below(256);
        u_.max_short_pause = chance_.scaled(ttl_ / 8) + 2us;
    }

    void build()
    {
        nodes_ = chance_.pick(std::array<std::size_t, 10>{1, 2, 2, 3, 3, 3, 3, 4, 4, 5});
        for (std::size_t i = 0; i < nodes_ + spares; ++i)
            u_.add_server({time_point{wall + chance_.scaled(ttl_ / 10)}, 0ns, chance_.between(-server_drift, server_drift)});
        quorum::set_record set{"s", 0, 0, true, 0, 0, {}, {}};
        for (std::size_t i = 0; i < nodes_; ++i) set.members.push_back(member_name(i));
        for (std::size_t i = 0; i < nodes_; ++i) {
            u_.servers()[i]->begin_admitted(ttl_, static_cast<testing::token_number>((wall - 10s) / 1us));
            u_.servers()[i]->memory.set_record = quorum::to_text(set);
        }
        newest_ = set;
        first_ = change_draw{chance_, nodes_}.first();
        std::size_t const clients = 3 + chance_.below(2);
        for (std::size_t i = 0; i < clients; ++i) invite(i >= 2 && !chance_.one_in(3));
    }

    // With the list of before the first change, or the one of after it. A new one may begin when it has been made, or long before.
    void invite(bool with_new_list)
    {
        std::vector<std::size_t> list;
        for (std::size_t n = 0; n < nodes_; ++n)
            if (!with_new_list || n != first_.leaves) list.push_back(n);
        if (with_new_list) list.insert(list.end(), first_.join.begin(), first_.join.end());
        add_client(std::move(list), with_new_list || chance_.one_in(4) ? chance_.between(0ns, horizon_) : 0ns, false);
    }

    void add_client(std::vector<std::size_t> list, duration begins, bool admits)
    {
        auto& p = u_.add_process({time_point{1h * (u_.processes().size() + 1)}, 0ns, chance_.between(-client_drift, client_drift)});
        u_.nodes_known_to[p.index()] = std::move(list);
        client_settings settings;
        settings.max_ttl = ttl_;
        settings.has_sets = true;
        settings.wall = wall + (chance_.one_in(2) ? chance_.scaled(ttl_ / 4) : 0ns);
        person& who = add_person(p.index(), make_client(u_, p, settings), begins);
        u_.at(begins, [this, &who, &p, admits] {
            p.visit(u_.now(), [&] {
                who.with->run([&who](error_code) { who.stopped = true; });
                if (admits) who.with->begin_admission();
            });
        });
    }

    // As the command does when a majority has moved, and `redlock admit`.
    void admit_members()
    {
        if (!admitting_.insert(newest_.generation).second) return;
        std::vector<std::size_t> list;
        for (auto const& s : u_.servers())
            if (newest_.has(member_name(s->index()))) list.push_back(s->index());
        add_client(std::move(list), u_.now(), true);
    }

    // The first change; then perhaps the way back, or another member; and perhaps somebody else who changes the set at the same time.
    void plan_changes()
    {
        auto const at = first_at_ = chance_.between(0ns, horizon_ / 2);
        bool const is_dead = first_.leaves && chance_.one_in(3);
        if (is_dead) plan_death(*first_.leaves, chance_.between(0ns, at + 1us));
        loses_a_member_ = is_dead;
        begin_command(first_, at);
        wanted_ = first_;
        change_draw drawn{chance_, nodes_};
        if (chance_.one_in(3)) begin_command(drawn.rival_of(first_), at + chance_.scaled(ttl_ / 8));
        if (chance_.one_in(2)) begin_command(first_, at + chance_.scaled(2 * ttl_));
        if (!chance_.one_in(2)) return;
        auto const next = chance_.one_in(2) ? change_draw::way_back(first_) : drawn.after(first_);
        if (chance_.one_in(2)) return void(next_ = next);
        begin_command(next, chance_.between(at + ttl_, horizon_ + ttl_));
    }

    // It may be killed at any time, or right behind a step.
    void begin_command(change const& which, duration at)
    {
        bool const is_killed = chance_.one_in(2);
        std::size_t const behind_step = is_killed && chance_.one_in(2) ? 1 + chance_.below(3) : 0;
        auto const lives = chance_.scaled(ttl_ / 4) + 1us;
        u_.at(at, [this, which, is_killed, behind_step, lives] {
            auto const ends = [this, which](change_command::outcome how, std::string const& why) { ended(which, how, why); };
            auto const c = start(which, ends, behind_step);
            if (is_killed && behind_step == 0) u_.after(lives, [this, c] { kill(*c); });
        });
    }

    void kill(change_command& which)
    {
        if (which.is_over()) return;
        which.kill();
        ++covered_.change_killed;
        tell("a command is killed");
        was_killed_ = true;
        lose_somebody();
    }

    std::shared_ptr<change_command> start(change const& which, change_command::ending ends, std::size_t killed_behind_step = 0)
    {
        bool const is_last = u_.now() > horizon_;
        std::string join;
        for (auto const each : which.join) join += ' ' + member_name(each);
        tell((which.leaves ? member_name(*which.leaves) : "nobody") + " is to leave, and" + (join.empty() ? " nobody" : join) + " to join");
        auto const c = std::make_shared<change_command>(u_, which, ttl_, std::move(ends));
        if (!calm_ && !is_last && chance_.one_in(3)) c->unreachable = chance_.below(nodes_);
        c->on_step = [this, c = c.get(), left = killed_behind_step](quorum::set_record const& next, std::size_t server) mutable {
            tell(member_name(server) + " moves to " + quorum::in_words(next));
            note_generation();
            if (left > 0 && --left == 0) kill(*c);
        };
        commands_.push_back(c);
        c->begin();
        return c;
    }

    void ended(change const& which, change_command::outcome how, std::string const& why)
    {
        using enum change_command::outcome;
        if (how == moved) {
            wanted_ = which;
            lose_somebody();
            if (next_ && !is_finished_ && u_.now() < horizon_)
                begin_command(*std::exchange(next_, std::nullopt), u_.now() + chance_.scaled(ttl_ / 4));
        }
        if (how == moved || how == too_few) admit_members();
        if (how == outrun) ++covered_.change_outrun;
        if (how == too_few) ++covered_.change_refused;
        tell("a command has ended: " + (how == moved ? "a majority has moved" : why));
    }

    // The newest generation into which a majority of the one before has moved.
    void note_generation()
    {
        for (auto const& s : u_.servers()) {
            auto const said = quorum::read_set_text(s->memory.set_record);
            if (said.is != quorum::set_text::kind::good || said.record.generation <= newest_.generation) continue;
            // When clients with the old list follow.
            if (!said.record.counts.moved && carriers_of(said.record) < quorum::majority(said.record.size_before())) continue;
            if (said.record.size() > newest_.size()) ++covered_.set_grown;
            if (said.record.size() < newest_.size()) ++covered_.set_shrunk;
            for (auto const& m : said.record.members)
                if (!newest_.has(m) && newest_.knows(m)) ++covered_.member_returned;
            newest_ = said.record;
            later_.push_back(newest_);
            ++covered_.set_changed;
        }
    }

    std::size_t carriers_of(quorum::set_record const& r) const
    {
        return static_cast<std::size_t>(std::count_if(u_.servers().begin(), u_.servers().end(), [&](auto const& s) {
            auto const theirs = quorum::read_set_text(s->memory.set_record);
            return theirs.is == quorum::set_text::kind::good && r.is_same_generation(theirs.record);
        }));
    }

    // How many members of the newest generation run, have their data, and carry it.
    std::size_t remembering(server const* without) const
    {
        return static_cast<std::size_t>(std::count_if(u_.servers().begin(), u_.servers().end(), [&](auto const& s) {
            auto const f = s->memory.facts(s->time());
            auto const theirs = quorum::read_set_text(f.set);
            return s.get() != without && s->up() && !f.id.empty() && f.admitted == f.id && theirs.is == quorum::set_text::kind::good &&
                   newest_.is_same_generation(theirs.record);
        }));
    }

    void plan_death(std::size_t server, duration at)
    {
        auto const comes_back = chance_.one_in(2) ? chance_.between(at + 1us, horizon_ + 1us) : horizon_;
        u_.at(at, [this, server] {
            if (!may_forget(*u_.servers()[server])) return;
            tell(member_name(server) + " dies");
            u_.servers()[server]->crash(keeps::everything);
        });
        u_.at(comes_back, [this, server] { u_.servers()[server]->start(); });
    }

    void plan_faults()
    {
        for (std::size_t n = chance_.below(5); n > 0; --n) plan_a_link_fault(u_, horizon_, ttl_);
        plan_blind_spots();
        plan_pauses();
        for (std::size_t n = chance_.below(4); n > 0; --n) plan_a_server_fault();
    }

    // A client that does not reach a member has its locks on a bare majority while the set is changed.
    void plan_blind_spots()
    {
        for (person const& who : people_) {
            if (!chance_.one_in(4)) continue;
            auto& l = u_.between(*u_.processes()[who.process], *u_.servers()[chance_.below(nodes_)]);
            u_.at(chance_.between(0ns, first_at_), [&l] {
                l.unreachable = true;
                l.go_silent(true);
            });
            u_.at(first_at_ + chance_.scaled(4 * ttl_) + 1us, [&l] { l.heal(); });
        }
    }

    void plan_a_server_fault()
    {
        auto& s = *u_.servers()[chance_.below(u_.servers().size())];
        auto const at = chance_.between(0ns, horizon_);
        auto const lasts = chance_.scaled(2 * ttl_) + 1us;
        auto const what = chance_.pick(std::array{keeps::everything, keeps::nothing, keeps::nothing, keeps::an_older_state});
        if (chance_.one_in(3)) {
            u_.at(at, [&s] { s.stop(); });
            return u_.at(std::min(horizon_, at + lasts), [&s] { s.go_on(); });
        }
        u_.at(chance_.between(0ns, at + 1ns), [&s] { s.take_snapshot(); });
        u_.at(at, [this, &s, what, lasts] {
            if (!s.up() || !may_forget(s)) return;
            tell(member_name(s.index()) + " crashes: " + to_string(what));
            s.crash(what);
            u_.after(lasts, [&s] { s.start(); });
        });
    }

    // Where it tells most of what a change may have forgotten: right behind a step of it.
    void lose_somebody()
    {
        if (calm_ || u_.now() > horizon_ || !chance_.one_in(2)) return;
        u_.after(chance_.scaled(ttl_ / 2) + 1us, [this, &s = *u_.servers()[chance_.below(nodes_)], lasts = chance_.scaled(ttl_) + 1us] {
            if (!s.up() || !may_forget(s)) return;
            tell(member_name(s.index()) + " loses its data");
            s.crash(keeps::nothing);
            u_.after(lasts, [&s] { s.start(); });
        });
    }

    // A server that restarts has another id, so it has to be admitted anew. If too few remember, an operator has to begin anew. While a
    // command is at work, what it has seen may be over.
    bool may_forget(server const& s) const
    {
        bool const at_work = std::any_of(commands_.begin(), commands_.end(), [](auto const& c) { return !c->is_quiet(); });
        return !at_work && remembering(&s) >= (size_known_to_others(s) + 1) / 2 && no_list_without_data(s);
    }

    // Until another server's record says that a majority has moved, the loss of this one may hide that.
    std::size_t size_known_to_others(server const& without) const
    {
        bool const is_known = newest_.generation == 0 || std::any_of(u_.servers().begin(), u_.servers().end(), [&](auto const& s) {
                                  auto const said = quorum::read_set_text(s->memory.set_record);
                                  return s.get() != &without && said.record.is_same_generation(newest_) && said.record.counts.moved;
                              });
        return is_known ? newest_.size() : std::max(newest_.size(), newest_.size_before());
    }

    // All nodes of a short list without data look like a new set.
    bool no_list_without_data(server const& without) const
    {
        auto const has_data = [&](std::size_t n) {
            auto const& s = *u_.servers()[n];
            return &s != &without && s.up() && !s.memory.set_record.empty();
        };
        return std::all_of(u_.nodes_known_to.begin(), u_.nodes_known_to.end(), [&](auto const& of) {
            auto const& list = of.second;
            return std::any_of(list.begin(), list.end(), has_data);
        });
    }

    void clear_up()
    {
        end_faults();
        for (auto const& s : u_.servers()) s->start(), s->go_on();
        u_.after(4 * ttl_, [this] { finish_the_change(); });
    }

    // An operator runs the command again until it ends well.
    void finish_the_change()
    {
        start(wanted_, [this](change_command::outcome how, std::string const& why) {
            ended(wanted_, how, why);
            if (how == change_command::outcome::moved || how == change_command::outcome::outrun) return finished();
            auto const says = [&why](char const* what) { return why.find(what) != std::string::npos; };
            bool const makes_no_sense = says("is the only member") || says("is a member already") || says("has fewer than 3 members");
            if (how == change_command::outcome::refused && makes_no_sense) return finished();
            if (how == change_command::outcome::refused) return violation("a command was refused: " + why);
            forget_lost_moves();
            u_.after(4 * ttl_, [this] { finish_the_change(); });
        });
    }

    void finished()
    {
        for (auto const& s : u_.servers())
            tell(member_name(s->index()) + (s->memory.admitted() ? " (admitted): " : ": ") + s->memory.set_record);
        is_finished_ = true;
        finished_at_ = u_.now();
    }

    // What the command tells the operator to do with a member that lost its data after it had moved, while the others have not.
    void forget_lost_moves()
    {
        for (auto const& s : u_.servers()) {
            auto const said = quorum::read_set_text(s->memory.set_record);
            bool const has_moved = said.is == quorum::set_text::kind::good && said.record.generation > newest_.generation;
            if (!has_moved || !s->up() || s->memory.admitted()) continue;
            tell("DEL redlock:node redlock:set on " + member_name(s->index()));
            s->memory.record.reset();
            s->memory.set_record.clear();
        }
    }

    // With as many of the present members in its list as docs/operations.md asks for: all but the one that the last change replaced.
    bool has_nearly_all_members(person const& who) const
    {
        auto const is_member = [this](std::size_t n) { return newest_.has(member_name(n)); };
        auto const& list = list_of(who);
        return has_a_majority(who) && static_cast<std::size_t>(std::count_if(list.begin(), list.end(), is_member)) + 1 >= list.size();
    }

    // In each generation since: before a member that joins may vote, those that were there before have to be a majority of the larger N.
    bool is_majority_without_those_that_joined_since(person const& who, std::uint64_t generation) const
    {
        auto const is_enough = [&](quorum::set_record const& later) {
            auto const was_there = [&](std::size_t n) {
                return later.has(member_name(n)) && later.joined_in(member_name(n)) <= generation;
            };
            auto const& list = list_of(who);
            return later.generation <= generation ||
                   static_cast<std::size_t>(std::count_if(list.begin(), list.end(), was_there)) >= quorum::majority(later.size());
        };
        return std::all_of(later_.begin(), later_.end(), is_enough);
    }

    std::vector<std::size_t> const& list_of(person const& who) const { return u_.nodes_known_to.at(who.process); }

    // Whether its list has a majority of the members, and nobody who never was one.
    bool has_a_majority(person const& who) const
    {
        auto const is_member = [this](std::size_t n) { return newest_.has(member_name(n)); };
        auto const is_known = [this](std::size_t n) { return newest_.knows(member_name(n)); };
        auto const& list = list_of(who);
        return newest_.had(list.size()) && std::all_of(list.begin(), list.end(), is_known) &&
               static_cast<std::size_t>(std::count_if(list.begin(), list.end(), is_member)) >= quorum::majority(newest_.size());
    }

    // Every client has read the servers' records since the last change.
    bool is_last_round() const override { return is_finished_ && u_.now() > finished_at_ + 3s; }
    bool must_acquire(person const& who) const override { return has_a_majority(who); }

    class through_changes final : public witness {
    public:
        through_changes(change_schedule& in, person const& who, std::string name, lease const& held)
            : in_{in}, who_{who}, name_{std::move(name)}, held_{held}, began_in_{in.newest_.generation}
        {
        }

        void while_held() override
        {
            if (began_in_ == in_.newest_.generation) was_on_all_ = held_.nodes_held() == in_.list_of(who_).size();
        }

        // A lease that was on fewer nodes may be on too few without the member that leaves, if another one has seen a larger counter, from a rival's
        // attempt. A command that was killed may leave a minority that has moved, and has no votes for those who have not, as if it were down.
        void ended(bool kept) override
        {
            if (kept && began_in_ < in_.newest_.generation) ++in_.covered_.held_through_a_change;
            bool const is_expected = in_.calm_ && was_on_all_ && !in_.loses_a_member_ && !in_.was_killed_ &&
                                     in_.has_nearly_all_members(who_) && in_.is_majority_without_those_that_joined_since(who_, began_in_);
            if (!kept && is_expected) in_.violation("a lease was lost where nothing went wrong but the change: " + name_);
        }

    private:
        change_schedule& in_;
        person const& who_;
        std::string name_;
        lease const& held_;
        std::uint64_t began_in_;
        bool was_on_all_{false};  // when the change began
    };

    std::unique_ptr<witness> watch(person const& who, std::string const& name, lease const& held) override
    {
        return std::make_unique<through_changes>(*this, who, name, held);
    }

    std::set<std::uint64_t> admitting_;  // generations
    std::vector<std::shared_ptr<change_command>> commands_;
    quorum::set_record newest_;
    std::vector<quorum::set_record> later_;  // generations than the first
    change first_{}, wanted_{};
    duration first_at_{};
    std::optional<change> next_;  // begins when the first has ended
    std::size_t nodes_{0};
    bool was_killed_{false};  // a command
    bool calm_{false};  // nothing goes wrong but the commands
    bool loses_a_member_{false};
    bool is_finished_{false};
    duration finished_at_{};
};

}  // namespace

result run_change_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say)
{
    return change_schedule{seed, covered, std::move(say)}.run();
}

}  // namespace redlock::simulation
