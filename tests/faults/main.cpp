// make faults: real servers, real faults. One program, which is the runner, and executes itself as the workers and the register.
#include "namespaces.hpp"
#include "register.hpp"
#include "runner.hpp"
#include "worker.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <random>

int main(int argc, char** argv)
{
    // Workers wait for nodes each for itself, and leave nothing in a folder of the user.
    for (char const* name : {"REDLOCK_STATE_DIR", "XDG_STATE_HOME", "HOME"}) ::unsetenv(name);
    using namespace redlock::faults;

    CLI::App app{"Workers hold locks over five real servers while everything goes wrong, and a checker reads what they did"};
    app.require_subcommand(1);

    std::int64_t duration_ms = 120'000;
    std::int64_t slack_ms = 2'000;
    run_options run{.duration = {},
                    .seed = std::random_device{}(),
                    .server = "redis-server",
                    .folder = "build/faults",
                    .keep = false,
                    .no_namespace = {},
                    .only = {},
                    .misconfigured = false};
    auto* const runner = app.add_subcommand("run", "start everything, inject faults, check");
    runner->add_option("--duration", duration_ms, "how long to inject faults: 120s, 10min")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, std::int64_t>{{"ms", 1}, {"s", 1'000}, {"min", 60'000}, {"h", 3'600'000}}));
    runner->add_option("--seed", run.seed, "every choice of the runner comes from it");
    runner->add_option("--server", run.server, "redis-server or valkey-server, or a path");
    runner->add_option("--folder", run.folder, "where logs go");
    runner->add_flag("--keep", run.keep, "keep the logs also when all was well");
    runner->add_flag("--group", run.group, "a primary and two replicas that three Sentinels watch, as the only node");
    runner->add_option("--slack", slack_ms, "with --group: how long after max_ttl acquisitions must go on at the latest: 2s")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, std::int64_t>{{"ms", 1}, {"s", 1'000}}));
    runner->add_flag("--misconfigured", run.misconfigured, "workers that share no majority, or in a group locks without tokens: must fail");
    runner->add_option("--only", run.only, "names of faults, as in the table");

    std::string address;
    std::string port_file;
    std::string log;
    auto* const cell = app.add_subcommand("register", "the process that writes go to")->group("");
    cell->add_option("--address", address)->required();
    cell->add_option("--port-file", port_file)->required();
    cell->add_option("--log", log)->required();

    worker_options work;
    auto* const worker = app.add_subcommand("worker", "a process that locks")->group("");
    worker->add_option("--name", work.name)->required();
    worker->add_option("--node", work.nodes)->required();
    worker->add_option("--register-host", work.register_host)->required();
    worker->add_option("--register-port", work.register_port)->required();
    worker->add_option("--log", work.log)->required();
    worker->add_option("--seed", work.seed)->required();
    worker->add_flag("--bootstrap", work.bootstrap);
    worker->add_option("--kind", work.kind);

    auto* const probe = app.add_subcommand("probe", "whether this namespace can have a packet wire")->group("");
    CLI11_PARSE(app, argc, argv);

    try {
        if (*cell) return run_register(address, port_file, log);
        if (*worker) return run_worker(work);
        char const* const path = std::getenv("PATH");
        ::setenv("PATH", ((path != nullptr ? path : "/usr/bin:/bin") + std::string{":/usr/sbin:/sbin"}).c_str(), 1);  // ip is there
        if (*probe) return probe_namespace();
        run.duration = std::chrono::milliseconds{duration_ms};
        run.slack = std::chrono::milliseconds{slack_ms};
        run.no_namespace = enter_namespace(argv);
        return run_faults(run);
    } catch (std::exception const& error) {
        std::cerr << error.what() << '\n';
        return EXIT_FAILURE;
    }
}
