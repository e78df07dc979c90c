// What waiting for a lock costs, and how long it takes. Each measurement starts its own servers and writes JSON.
//
//     waiting handoff|remote|idle|fair|crowd|replicas|permits [--help]
#include "measurements.hpp"
#include "report.hpp"

#include <cstdio>
#include <exception>
#include <filesystem>

#include <sys/resource.h>

namespace {

// A thousand clients have three thousand connections, and each server a thousand.
void raise_descriptor_limit()
{
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

int main(int argc, char** argv)
try {
    bench::command_line = "waiting";
    for (int i = 1; i < argc; ++i) bench::command_line += std::string{" "} + argv[i];
    CLI::App app{"What waiting for a lock costs"};
    app.require_subcommand(1);
    bench::add_handoff(app);
    bench::add_remote(app);
    bench::add_idle(app);
    bench::add_fair(app);
    bench::add_crowd(app);
    bench::add_replicas(app);
    bench::add_permits(app);
    bench::add_holder(app);
    raise_descriptor_limit();
    CLI11_PARSE(app, argc, argv);
} catch (std::exception const& e) {
    std::fprintf(stderr, "waiting: %s\n", e.what());
    return 1;
}
