// Other libraries at the same work, in the same run.
#include "redis_plus_plus.hpp"
#include "report.hpp"
#include "run.hpp"
#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <unistd.h>

namespace bench {

namespace {

using redlock::testing::child_process;

double in_seconds(std::chrono::nanoseconds d) { return std::chrono::duration<double>{d}.count(); }

std::string contents(std::filesystem::path const& file)
{
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

// Its program reports what it has used itself; it runs on our processor.
sample run_node_redlock(workload const& what, std::filesystem::path const& node)
{
    redlock::testing::temporary_folder const folder;
    std::vector<std::string> arguments{REDLOCK_NODE_SPEED,
                                       REDLOCK_NPM_FOLDER,
                                       std::to_string(what.callers),
                                       std::to_string(in_seconds(what.warm_up)),
                                       std::to_string(in_seconds(what.measured)),
                                       "speed:node:" + std::to_string(::getpid())};
    for (auto const port : what.at) arguments.push_back(std::to_string(port));
    auto const log = folder.path() / "log";
    child_process program{node, arguments, log};
    auto const patience = std::chrono::ceil<std::chrono::milliseconds>(what.warm_up + what.measured) + 30s;
    if (program.wait(patience) != 0) throw std::runtime_error{"node-redlock failed:\n" + contents(log)};
    json const said = json::parse(contents(log));
    sample s;
    s.pairs = said.at("pairs");
    s.seconds = said.at("seconds");
    s.user_us = said.at("user_us");
    s.system_us = said.at("system_us");
    s.acquire_p50_us = said.at("p50_us");
    s.acquire_p99_us = said.at("p99_us");
    return s;
}

}  // namespace

void measure_peers(run& r)
{
    std::filesystem::path const installed = std::filesystem::path{REDLOCK_NPM_FOLDER} / "node_modules" / "redlock";
    if (!std::filesystem::exists(installed)) throw std::runtime_error{"node-redlock is not installed: tests/interop/setup.sh does that"};
    auto const node = redlock::testing::find_program("node");
    workload const what = r.work(r.three(), 256, false);
    workload theirs = what;
    theirs.warm_up *= 3;  // until its code is compiled
    std::vector<worker> workers{{"redlock", [=] { return run_ours(what); }},
                                {"node-redlock", [=] { return run_node_redlock(theirs, node); }}};
#ifdef REDLOCK_HAS_REDIS_PLUS_PLUS
    workers.push_back({"redis-plus-plus", [=] { return run_redis_plus_plus(what); }});
#endif
    auto const all = take_turns(workers, r.how.rounds);
    auto const put = [&](medians const& peer, std::string const& name) {
        r.put("cpu_ratio_" + name, ratio(peer, all[0], &sample::cpu_us_per_pair));
        r.put(name + "_cpu_us_per_pair", peer.cpu_us_per_pair());
        r.put(name + "_pairs_per_second", peer.pairs_per_second());
    };
    put(all[1], "node_redlock");
    r.put("node_redlock_acquire_p50_us", all[1].acquire_p50_us());
    if (all.size() > 2) put(all[2], "redis_plus_plus");
    r.add_detail("peers", all);
}

}  // namespace bench
