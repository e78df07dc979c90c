// The steps that compare this library with the baselines.
#include "testbed.hpp"
#include "processors.hpp"
#include "allocations.hpp"
#include "round_engine.hpp"
#include "waiting/handoff.hpp"
#include "run.hpp"

#include <array>

namespace bench {

namespace {

// `also_with_strand`: this library once more, as the last.
std::vector<worker> with_baselines(workload const& what, bool also_with_strand)
{
    std::vector<worker> all{{"epoll", [what] { return run_epoll_baseline(what); }},
                            {"asio", [what] { return run_asio_baseline(what); }},
                            {"redlock", [what] { return run_ours(what); }}};
    if (what.fencing) return all;
    all.push_back({"boost_redis", [what] { return run_boost_redis_baseline(what); }});
    all.push_back({"coroutines", [what] { return run_coroutines_baseline(what); }});
    all.push_back({"duties", [what] { return run_duties_baseline(what); }});
    if (also_with_strand) {
        workload careful = what;
        careful.own_strand = true;
        all.push_back({"redlock with a strand", [careful] { return run_ours(careful); }});
    }
    return all;
}

// What one of the workers costs.
void put_costs(run& r, std::string const& name, medians const& who, std::string const& suffix)
{
    r.put(name + "cpu_us_per_pair" + suffix, who.cpu_us_per_pair());
    r.put(name + "pairs_per_second" + suffix, who.pairs_per_second());
    r.put(name + "acquire_p50_us" + suffix, who.acquire_p50_us());
    r.put(name + "acquire_p99_us" + suffix, who.acquire_p99_us());
    if (allocations_are_counted()) r.put(name + "allocations_per_pair" + suffix, who.allocations_per_pair());
}

void put_ratios(run& r, std::string const& kind, std::string const& of, medians const& who, medians const& baseline,
                std::string const& suffix)
{
    r.put(kind + "cpu_ratio" + of + suffix, ratio(who, baseline, &sample::cpu_us_per_pair));
    r.put(kind + "throughput_ratio" + of + suffix, ratio(who, baseline, &sample::pairs_per_second));
    r.put(kind + "latency_ratio" + of + suffix, ratio(who, baseline, &sample::acquire_p50_us));
}

// "_n3_c256" behind the names.
void compare_with_baselines(run& r, testbed const& where, std::size_t callers, bool fencing, std::string const& suffix,
                            bool also_with_strand = false)
{
    auto const all = take_turns(with_baselines(r.work(where, callers, fencing), also_with_strand), r.how.rounds);
    medians const& baseline = all[0];
    medians const& raw_asio = all[1];
    medians const& ours = all[2];
    std::string const kind = fencing ? "fenced_" : "";
    put_ratios(r, kind, "", ours, baseline, suffix);
    r.put(kind + "cpu_ratio_over_asio" + suffix, ratio(ours, raw_asio, &sample::cpu_us_per_pair));
    put_costs(r, kind, ours, suffix);
    put_costs(r, kind + "floor_", baseline, suffix);
    put_costs(r, kind + "asio_", raw_asio, suffix);
    if (!fencing) {
        for (std::size_t i : {3u, 4u, 5u}) {
            put_ratios(r, "", "_" + all[i].name + "_floor", all[i], baseline, suffix);
            put_costs(r, all[i].name + "_", all[i], suffix);
        }
        r.put("cpu_ratio_over_boost_redis" + suffix, ratio(ours, all[3], &sample::cpu_us_per_pair));
        r.put("cpu_ratio_over_coroutines" + suffix, ratio(ours, all[4], &sample::cpu_us_per_pair));
        r.put("latency_ratio_over_boost_redis" + suffix, ratio(ours, all[3], &sample::acquire_p50_us));
    }
    if (also_with_strand) {
        r.put("cpu_ratio" + suffix + "_without_implicit_strand", ratio(all.back(), baseline, &sample::cpu_us_per_pair));
        r.put("throughput_ratio_with_strand" + suffix, ratio(all.back(), baseline, &sample::pairs_per_second));
        r.put("latency_ratio_with_strand" + suffix, ratio(all.back(), baseline, &sample::acquire_p50_us));
        put_costs(r, "with_strand_", all.back(), suffix);
    }
    if (allocations_are_counted() && !fencing && suffix == "_n3_c256") r.put("allocations_per_pair", ours.allocations_per_pair());
    r.add_detail((fencing ? "fenced" : "plain") + suffix, all);
}

}  // namespace

void measure_plain_three(run& r) { compare_with_baselines(r, r.three(), 256, false, "_n3_c256", true); }
void measure_plain_five(run& r) { compare_with_baselines(r, r.five(), 256, false, "_n5_c256"); }
void measure_single_three(run& r) { compare_with_baselines(r, r.three(), 1, false, "_n3_c1", true); }
void measure_single_five(run& r) { compare_with_baselines(r, r.five(), 1, false, "_n5_c1"); }
void measure_sixteen(run& r) { compare_with_baselines(r, r.three(), 16, false, "_n3_c16"); }
void measure_crowd(run& r) { compare_with_baselines(r, r.three(), 2'000, false, "_n3_c2000"); }

// What threads cost that the baseline does not have: a second one that only sleeps, so that the counts of shared_ptr are atomic, and four that run the
// callers and the client with a strand of its own, on all processors. The coroutines baseline on as many threads is in one strand with its callers, so
// no completion goes from one thread to another.
void measure_threads(run& r)
{
    workload const alone = r.work(r.three(), 256, false);
    workload beside = alone;
    beside.idle_thread = true;
    workload four = alone;
    four.own_strand = true;
    four.threads = 4;
    auto const all = take_turns({{"epoll", [alone] { return run_epoll_baseline(alone); }},
                                 {"redlock", [alone] { return run_ours(alone); }},
                                 {"redlock beside a thread that sleeps", [beside] { return run_ours(beside); }},
                                 {"redlock on four threads", [four] { return run_ours(four); }},
                                 {"coroutines", [alone] { return run_coroutines_baseline(alone); }},
                                 {"coroutines on four threads", [four] { return run_coroutines_baseline(four); }}},
                                r.how.rounds);
    r.put("cpu_ratio_multithreaded_n3_c256", ratio(all[2], all[0], &sample::cpu_us_per_pair));
    r.put("cpu_ratio_four_threads_n3_c256", ratio(all[3], all[0], &sample::cpu_us_per_pair));
    r.put("cpu_growth_multithreaded_n3_c256", ratio(all[2], all[1], &sample::cpu_us_per_pair));
    r.put("cpu_growth_four_threads_n3_c256", ratio(all[3], all[1], &sample::cpu_us_per_pair));
    r.put("cpu_growth_four_threads_coroutines_floor_n3_c256", ratio(all[5], all[4], &sample::cpu_us_per_pair));
    r.put("throughput_growth_four_threads_n3_c256", ratio(all[3], all[1], &sample::pairs_per_second));
    r.add_detail("threads", all);
}

// The baseline sends the script with tokens, and expects that all nodes give the same one.
void measure_fenced(run& r)
{
    compare_with_baselines(r, r.three(), 256, true, "_n3_c256");
    auto const ours = run_in_client_process<sample>([what = r.work(r.three(), 256, true)] { return run_ours(what); });
    r.put("fenced_one_round_share", 1 - ours.confirmations / ours.acquired);
}

// One of five servers stops where the measurement begins: what it costs until it is known to be slow counts as well. Callers rest between their
// pairs: at full speed four servers, on as many processors as five, would be the faster ones. And they rest so long that the client's processor
// has time left: in a queue for a busy one, every little cost becomes a long wait.
//
// The epoll baseline does the same: of four servers the third answer is later than of five, whoever waits for it.
void measure_stalled(run& r)
{
    constexpr std::size_t callers = 64;
    testbed& where = r.five();
    workload what = r.work(where, callers, false);
    what.rest = 20ms;
    what.stagger = what.rest / callers;
    struct series {
        std::string name;
        sample (*run)(workload const&);
        medians healthy{"healthy", {}};
        medians stalled{"one of five stopped", {}};
    };
    std::array<series, 2> both{{{"", &run_ours}, {"floor_", &run_epoll_baseline}}};
    for (std::size_t round = 0; round < r.how.rounds; ++round) {
        auto const victim = round % where.size();
        for (series& s : both) {
            auto const work = s.run;
            s.healthy.samples.push_back(run_in_client_process<sample>([work, what] { return work(what); }));
            workload troubled = what;
            troubled.at_begin = [pid = where[victim].pid()] { ::kill(pid, SIGSTOP); };
            s.stalled.samples.push_back(run_in_client_process<sample>([work, troubled] { return work(troubled); }));
            ::kill(where[victim].pid(), SIGCONT);
            where[victim].command({"PING"}, 60s);  // it has caught up
        }
    }
    for (series const& s : both) {
        r.put(s.name + "stalled_node_p99_ratio", ratio(s.stalled, s.healthy, &sample::acquire_p99_us));
        r.put(s.name + "stalled_node_p50_ratio", ratio(s.stalled, s.healthy, &sample::acquire_p50_us));
        r.put(s.name + "healthy_n5_c64_acquire_p50_us", s.healthy.acquire_p50_us());
        r.put(s.name + "healthy_n5_c64_acquire_p99_us", s.healthy.acquire_p99_us());
        r.put(s.name + "stalled_node_acquire_p50_us", s.stalled.acquire_p50_us());
        r.put(s.name + "stalled_node_acquire_p99_us", s.stalled.acquire_p99_us());
        r.put(s.name + "stalled_node_client_cpu_share",
              s.stalled.of([](sample const& each) { return (each.user_us + each.system_us) / 1e6 / each.seconds; }));
        r.put(s.name + "stalled_node_throughput_ratio", ratio(s.stalled, s.healthy, &sample::pairs_per_second));
        r.add_detail(s.name + "stalled", {s.healthy, s.stalled});
    }
    r.put("stalled_node_p99_ratio_over_floor", ratio(both[0].stalled, both[1].stalled, &sample::acquire_p99_us));
}

// More names than fit into any cache, against one for each caller. The baselines show what it costs just to touch so much memory.
void measure_names(run& r)
{
    constexpr std::size_t callers = 250;
    workload const one = r.work(r.three(), callers, false);
    workload many = one;
    many.names = r.how.names / callers;
    many.warm_up *= 4;  // each name has been taken once
    auto const all = take_turns({{"one name for each caller", [one] { return run_ours(one); }},
                                 {"all names", [many] { return run_ours(many); }},
                                 {"one name for each caller, epoll floor", [one] { return run_epoll_baseline(one); }},
                                 {"all names, epoll floor", [many] { return run_epoll_baseline(many); }},
                                 {"one name for each caller, coroutines floor", [one] { return run_coroutines_baseline(one); }},
                                 {"all names, coroutines floor", [many] { return run_coroutines_baseline(many); }}},
                                r.how.rounds);
    r.put("cost_growth_100k_names", ratio(all[1], all[0], &sample::cpu_us_per_pair));
    r.put("cost_growth_100k_names_epoll_floor", ratio(all[3], all[2], &sample::cpu_us_per_pair));
    r.put("cost_growth_100k_names_coroutines_floor", ratio(all[5], all[4], &sample::cpu_us_per_pair));
    r.put("names_taken_in_turn", static_cast<double>(many.names * callers));
    r.add_detail("names", all);
}

void measure_handoffs(run& r)
{
    redlock::lock_options options;
    options.max_handoffs = 1'000'000;
    options.max_local_hold = 10s;
    struct kind {
        char const* name;
        bool fencing;
        bool implicit_strand;
        std::vector<double> per_second{};
    };
    std::array<kind, 3> measured{{{"local_handoffs_per_second", true, true},
                                  {"plain_local_handoffs_per_second", false, true},
                                  {"local_handoffs_per_second_with_strand", true, false}}};
    redlock::config settings = bootstrap_config(r.three().servers().ports());
    for (std::size_t round = 0; round < r.how.rounds; ++round) {
        for (kind& each : measured) {
            options.fencing = each.fencing;
            settings.implicit_strand = each.implicit_strand;
            auto const counted = run_in_client_process<handoffs>(
                [&] { return count_handoffs(settings, options, 100, r.how.measured / 2); });
            each.per_second.push_back(counted.pairs / counted.seconds);
        }
    }
    for (kind const& each : measured) r.put(each.name, median(each.per_second));
}

void measure_group(run& r)
{
    struct costs {
        round_cost group;
        round_cost by_hand;
    };
    auto const time = r.how.measured / 10;
    for (std::size_t const nodes : {3u, 5u}) {
        std::vector<costs> all;
        for (std::size_t round = 0; round < r.how.rounds; ++round)
            all.push_back(run_in_client_process<costs>(
                [=] { return costs{cost_of_round(engine::parallel_group, nodes, time), cost_of_round(engine::by_hand, nodes, time)}; }));
        auto const of = [&](auto const& what) {
            std::vector<double> values;
            for (costs const& c : all) values.push_back(what(c));
            return median(std::move(values));
        };
        std::string const suffix = nodes == 3 ? "" : "_n5";
        r.put("round_parallel_group_us" + suffix, of([](costs const& c) { return c.group.cpu_us; }));
        r.put("round_handwritten_us" + suffix, of([](costs const& c) { return c.by_hand.cpu_us; }));
        r.put("round_parallel_group_latency_us" + suffix, of([](costs const& c) { return c.group.latency_us; }));
        r.put("round_handwritten_latency_us" + suffix, of([](costs const& c) { return c.by_hand.latency_us; }));
        if (!allocations_are_counted()) continue;
        r.put("round_parallel_group_allocations" + suffix, of([](costs const& c) { return c.group.allocations; }));
        r.put("round_handwritten_allocations" + suffix, of([](costs const& c) { return c.by_hand.allocations; }));
    }
}

}  // namespace bench
