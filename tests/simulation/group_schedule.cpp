#include "group_schedule.hpp"

#include "group_link.hpp"
#include "belief_judge.hpp"
#include "faults.hpp"
#include "link.hpp"
#include "process.hpp"
#include "replica_group.hpp"
#include "simulated_client.hpp"
#include "universe.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace redlock::simulation {

namespace {

constexpr duration wall = 40'000 * 12h + 5h;

class group_schedule {
public:
    group_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say)
        : covered_{covered}, say_{std::move(say)}, u_{seed ^ 0x67726f757073u}
    {
        u_.covered = &covered;
        u_.after_step = [this] { beliefs_.look(); };
        u_.on_violation = [this](std::string const& what) { violation(what); };
        set_the_stage();
        build();
        plan();
    }

    ~group_schedule() { u_.destroy_processes(); }
    group_schedule(group_schedule const&) = delete;
    group_schedule& operator=(group_schedule const&) = delete;

    result run()
    {
        for (auto& p : people_)
            for (std::size_t n = 1 + chance_.below(2); n > 0; --n) send_to_work(p);
        if (!u_.run_until([this] { return violation_ || at_work_ == 0; }, limit()))
            violation("somebody still waits for a lock of a group, long after all faults have ended");
        if (!violation_) close();
        return {violation_, u_.fingerprint(), u_.steps(), u_.now()};
    }

private:
    struct person {
        std::size_t process;
        std::shared_ptr<client> with;
        bool is_stranger{false};  // has another k than the others, and no vote
        bool stopped{false};
    };

    void set_the_stage()
    {
        ttl_ = chance_.pick(std::array{100ms, 1'000ms});
        usual_.ttl = ttl_;
        usual_.node_timeout = ttl_ / static_cast<int>(2 + chance_.below(3));
        usual_.min_retry_delay = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(ttl_ / 20));
        usual_.max_retry_delay = ttl_ / 2;
        names_ = chance_.one_in(3) ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a"};
        horizon_ = chance_.between(8 * duration{ttl_}, 40 * duration{ttl_});
        auto& w = u_.weather;
        w.delay_min = 20us;
        w.delay_max = 20us + chance_.scaled(std::min<duration>(2ms, ttl_ / 40));
        w.reconnect_max = ttl_ / 8;
        w.notices_after_max = ttl_;
        w.ghost_delay_max = 2 * ttl_;
        w.replication_patience = ttl_ / 5;
        if (chance_.one_in(3)) w.slow_percent = 1 + chance_.below(15);
        w.slow_max = ttl_ / 8;
        if (chance_.one_in(4)) w.duplicate_percent = 1 + chance_.below(10);
        if (chance_.one_in(4)) u_.pause_one_in = 16 + chance_.below(256);
        u_.short_pause_max = chance_.scaled(ttl_ / 8) + 2us;
    }

    void build()
    {
        std::size_t const groups = chance_.one_in(5) ? 3 : 1;
        std::size_t const servers = groups > 1 ? 3 : chance_.pick(std::array<std::size_t, 6>{3, 3, 3, 3, 2, 5});
        auto const usual_k = static_cast<std::uint16_t>(servers / 2);
        auto const k = chance_.one_in(4) ? static_cast<std::uint16_t>(servers - 1) : usual_k;
        for (std::size_t g = 0; g < groups; ++g) {
            std::vector<server*> members;
            for (std::size_t i = 0; i < servers; ++i)
                members.push_back(
                    &u_.add_server({time_point{wall + chance_.scaled(ttl_ / 10)}, 0ns, chance_.between(-server_drift, server_drift)}));
            groups_.push_back(std::make_unique<replica_group>(u_, "g" + std::to_string(g), members, chance_.scaled(ttl_ / 10)));
            if (say_) groups_.back()->say = [this](std::string const& what) { tell(what); };
            groups_.back()->begin_admitted(ttl_, static_cast<testing::token_number>((wall - 10s) / 1us), k);
        }
        std::size_t const clients = 2 + chance_.below(2);
        for (std::size_t i = 0; i < clients; ++i) {
            auto& p = u_.add_process({time_point{1h * (i + 1)}, 0ns, chance_.between(-client_drift, client_drift)});
            bool const is_stranger = i == clients - 1 && clients > 2 && chance_.one_in(2);
            wished_acknowledgements wished{k == usual_k && chance_.one_in(2) ? std::uint16_t{0} : k, false};
            if (is_stranger) wished = {0, true};
            u_.make_nodes = [this, wished](process& in, asio::any_io_executor const& strand) {
                std::vector<std::unique_ptr<detail::node>> nodes;
                for (auto const& each : groups_) nodes.push_back(make_group_link(u_, in, strand, *each, wished));
                return nodes;
            };
            client_settings settings;
            settings.max_ttl = ttl_;
            settings.wall = wall + (chance_.one_in(2) ? chance_.scaled(ttl_ / 4) : 0ns);
            people_.push_back({i, make_client(u_, p, settings), is_stranger, false});
            p.visit(u_.now(), [&] { people_[i].with->run([this, i](error_code) { people_[i].stopped = true; }); });
        }
        u_.make_nodes = nullptr;
    }

    void plan()
    {
        for (auto const& g : groups_) {
            auto const part = 8 * duration{ttl_};
            for (duration at = chance_.scaled(part); at + part < horizon_; at += chance_.between(part / 4, part))
                u_.at(at, [&g, part] { g->fail_over(part); });
            if (chance_.one_in(3)) u_.at(chance_.between(0ns, horizon_), [this, &g] { g->crash_replica(chance_.scaled(2 * ttl_)); });
            if (chance_.one_in(3)) u_.at(chance_.between(0ns, horizon_), [this, &g] { g->hold_back(chance_.scaled(2 * ttl_)); });
        }
        for (std::size_t n = chance_.below(4); n > 0; --n) plan_a_link_fault(u_, horizon_, ttl_);
        for (std::size_t n = chance_.below(3); n > 0; --n) {
            auto const d = chance_.scaled(2 * ttl_) + 1us;
            u_.at(chance_.between(0ns, horizon_), [this, who = chance_.below(people_.size()), d, whole = chance_.one_in(2)] {
                auto& p = *u_.processes()[who];
                whole ? u_.suspend(p, d) : u_.pause(p, d);
            });
        }
        u_.at(horizon_, [this] {
            u_.pause_one_in = 0;
            u_.weather.slow_percent = 0;
            u_.weather.duplicate_percent = 0;
            for (auto const& l : u_.links()) l->heal();
        });
        u_.at(horizon_ + 4 * ttl_, [this] { see_whether_it_is_stranded(); });
    }

    // Of several groups, so many failed over at the same time that too few remember for the others to be admitted: somebody has to say so (fencing.md).
    void see_whether_it_is_stranded()
    {
        if (at_work_ == 0) return;
        auto const admitted = std::count_if(groups_.begin(), groups_.end(), [](auto const& g) { return g->is_admitted(); });
        if (admitted > 0 && static_cast<std::size_t>(admitted) < (groups_.size() + 1) / 2) {
            tell("an operator deletes redlock:node on all primaries");
            for (auto const& g : groups_) g->forget_record();
        }
        u_.after(8 * ttl_, [this] { see_whether_it_is_stranded(); });
    }

    void send_to_work(person& who)
    {
        ++at_work_;
        asio::co_spawn(u_.processes()[who.process]->get_executor(), work(who), [this](std::exception_ptr failure) {
            --at_work_;
            if (failure) violation("a user of a group was surprised");
        });
    }

    // Until the faults are over; and then once more, when it has to work.
    asio::awaitable<void> work(person& who)
    {
        bool last = false;
        while (!last && !violation_) {
            last = u_.now() > horizon_ + 20 * ttl_;
            auto options = usual_;
            options.acquire_timeout = last ? 100 * ttl_ : std::chrono::milliseconds{ttl_ * static_cast<int>(1 + chance_.below(4))};
            lock const resource{*who.with, names_[chance_.below(names_.size())], options};
            auto acquiring = resource.acquire(asio::as_tuple(asio::use_awaitable));
            auto [ec, held] = co_await std::move(acquiring);
            if (!ec) {
                ++covered_.group_acquired;
                auto using_it = hold(who, resource.name(), held);
                co_await std::move(using_it);
            } else if (last && !who.is_stranger) {
                violation("nobody could acquire a lock of a group, long after all faults had ended: " + ec.message());
            }
            auto pause = sleep(chance_.scaled(ttl_ / 2) + 1us);
            co_await std::move(pause);
        }
    }

    asio::awaitable<void> hold(person const& who, std::string const& name, lease& held)
    {
        auto belief = std::make_unique<belief_judge::belief>(beliefs_, who.process, held, name);
        tell("client " + std::to_string(who.process) + " holds " + name + " with token " + std::to_string(held.token()));
        auto const until = u_.now() + chance_.scaled(chance_.one_in(3) ? 8 * ttl_ : ttl_);
        do {
            belief->write();
            auto pause = sleep(chance_.scaled(ttl_ / 4) + 1us);
            co_await std::move(pause);
        } while (held.valid() && u_.now() < until);
        belief->write();  // also late, as somebody does who does not know that his lease is over
        if (!held.valid()) ++covered_.group_lease_lost;
        belief.reset();
        tell("client " + std::to_string(who.process) + (held.valid() ? " gives back " : " has lost ") + name);
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        co_await std::move(releasing);
    }

    void close()
    {
        for (auto& p : people_) u_.processes()[p.process]->visit(u_.now(), [&] { p.with->cancel(); });
        auto const stopped = [this] { return std::all_of(people_.begin(), people_.end(), [](person const& p) { return p.stopped; }); };
        if (!u_.run_until(stopped, u_.now() + limit())) violation("a client of a group does not stop");
        for (auto& p : people_) u_.processes()[p.process]->visit(u_.now(), [&] { p.with.reset(); });
    }

    duration limit() const { return horizon_ + 1'000 * duration{ttl_}; }

    void violation(std::string const& what)
    {
        tell("violation: " + what);
        if (!violation_) violation_ = "in a world of groups: " + what;
    }

    void tell(std::string const& what) const
    {
        if (say_) say_(std::to_string(std::chrono::duration<double, std::milli>(u_.now()).count()) + " ms: " + what);
    }

    coverage& covered_;
    std::function<void(std::string const&)> say_;
    universe u_;
    random& chance_{u_.chance};
    std::vector<std::unique_ptr<replica_group>> groups_;
    std::vector<person> people_;
    belief_judge beliefs_{u_, [this](std::string const& what) { violation(what); }};
    std::vector<std::string> names_;
    lock_options usual_{};
    std::chrono::milliseconds ttl_{};
    duration horizon_{};
    std::size_t at_work_{0};
    std::optional<std::string> violation_;
};

}  // namespace

result run_group_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say)
{
    return group_schedule{seed, covered, std::move(say)}.run();
}

}  // namespace redlock::simulation
