#include "group_schedule.hpp"

#include "belief_world.hpp"
#include "faults.hpp"
#include "group_link.hpp"
#include "link.hpp"
#include "process.hpp"
#include "replica_group.hpp"
#include "simulated_client.hpp"
#include "universe.hpp"

#include <redlock/redlock.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace redlock::simulation {

namespace {

constexpr duration wall = 40'000 * 12h + 5h;

class group_schedule final : public belief_world {
public:
    group_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say)
        : belief_world{seed ^ 0x67726f757073u, covered, "in a world of groups", std::move(say)}
    {
        set_the_stage();
        build();
        plan();
    }

    ~group_schedule() { end(); }

private:
    void set_the_stage()
    {
        ttl_ = chance_.pick(std::array{100ms, 1'000ms});
        usual_.ttl = ttl_;
        usual_.node_timeout = ttl_ / static_cast<int>(2 + chance_.below(3));
        usual_.min_retry_delay = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(ttl_ / 20));
        usual_.max_retry_delay = ttl_ / 2;
        names_ = chance_.one_in(3) ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{"a"};
        max_rest_ = ttl_ / 2;
        horizon_ = chance_.between(8 * duration{ttl_}, 40 * duration{ttl_});
        auto& w = u_.weather;
        w.min_delay = 20us;
        w.max_delay = 20us + chance_.scaled(std::min<duration>(2ms, ttl_ / 40));
        w.max_reconnect = ttl_ / 8;
        w.max_notices_after = ttl_;
        w.max_ghost_delay = 2 * ttl_;
        w.replication_patience = ttl_ / 5;
        if (chance_.one_in(3)) w.slow_percent = 1 + chance_.below(15);
        w.max_slow = ttl_ / 8;
        if (chance_.one_in(4)) w.duplicate_percent = 1 + chance_.below(10);
        if (chance_.one_in(4)) u_.pause_one_in = 16 + chance_.below(256);
        u_.max_short_pause = chance_.scaled(ttl_ / 8) + 2us;
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
            if (is_stranger) strangers_.insert(i);
            person& who = add_person(i, make_client(u_, p, settings));
            p.visit(u_.now(), [&] { who.with->run([&who](error_code) { who.stopped = true; }); });
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
        plan_pauses();
        u_.at(horizon_, [this] { end_faults(); });
    }

    bool is_last_round() const override { return u_.now() > horizon_ + 20 * ttl_; }
    bool must_acquire(person const& who) const override { return !strangers_.contains(who.process); }

    class count_of_lost final : public witness {
    public:
        explicit count_of_lost(coverage& covered) : covered_{covered} { ++covered_.group_acquired; }
        void ended(bool kept) override
        {
            if (!kept) ++covered_.group_lease_lost;
        }

    private:
        coverage& covered_;
    };

    std::unique_ptr<witness> watch(person const&, std::string const&, lease const&) override
    {
        return std::make_unique<count_of_lost>(covered_);
    }

    std::vector<std::unique_ptr<replica_group>> groups_;
    std::set<std::size_t> strangers_;  // have another k than the others, and no vote
};

}  // namespace

result run_group_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say)
{
    return group_schedule{seed, covered, std::move(say)}.run();
}

}  // namespace redlock::simulation
