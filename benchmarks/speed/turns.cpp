#include "turns.hpp"

#include "allocations.hpp"
#include "processors.hpp"

#include <utility>

namespace bench {

double medians::of(std::function<double(sample const&)> const& what) const
{
    std::vector<double> values;
    for (sample const& s : samples) values.push_back(what(s));
    return median(std::move(values));
}

json medians::to_json() const
{
    json all{{"worker", name},
             {"runs", samples.size()},
             {"pairs_per_second", pairs_per_second()},
             {"cpu_us_per_pair", cpu_us_per_pair()},
             {"user_us_per_pair", of([](sample const& s) { return s.user_us / s.pairs; })},
             {"system_us_per_pair", of([](sample const& s) { return s.system_us / s.pairs; })},
             {"cpu_share", of([](sample const& s) { return (s.user_us + s.system_us) / 1e6 / s.seconds; })},
             {"acquire_p50_us", acquire_p50_us()},
             {"acquire_p99_us", acquire_p99_us()},
             {"confirmations_per_pair", of([](sample const& s) { return s.confirmations / s.pairs; })}};
    if (allocations_are_counted()) all["allocations_per_pair"] = allocations_per_pair();
    if (double const n = of(&sample::instructions_per_pair); n > 0) all["instructions_per_pair"] = n;
    return all;
}

double ratio(medians const& of, medians const& to, std::function<double(sample const&)> const& what)
{
    std::vector<double> ratios;
    for (std::size_t i = 0; i < of.samples.size(); ++i) ratios.push_back(what(of.samples[i]) / what(to.samples[i]));
    return median(std::move(ratios));
}

std::vector<medians> take_turns(std::vector<worker> const& workers, std::size_t rounds)
{
    std::vector<medians> all;
    for (worker const& w : workers) all.push_back({w.name, {}});
    for (std::size_t round = 0; round < rounds; ++round)
        for (std::size_t i = 0; i < workers.size(); ++i) all[i].samples.push_back(run_in_client_process<sample>(workers[i].run));
    return all;
}

}  // namespace bench
