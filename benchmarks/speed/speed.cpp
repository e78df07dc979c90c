// How fast locks are, as ratios to what the sockets allow. Each measurement starts its own servers and writes JSON.
//
//     speed all|compare|instructions|caches [--help]
#include "speed.hpp"
#include "report.hpp"

#include <cstdio>
#include <exception>

int main(int argc, char** argv)
try {
    bench::command_line = "speed";
    for (int i = 1; i < argc; ++i) bench::command_line += std::string{" "} + argv[i];
    CLI::App app{"How fast locks are"};
    app.require_subcommand(1);
    bench::add_compare(app);
    bench::add_all(app);
    bench::add_instructions(app);
    bench::add_caches(app);
    bench::add_worker(app);
    CLI11_PARSE(app, argc, argv);
} catch (std::exception const& e) {
    std::fprintf(stderr, "speed: %s\n", e.what());
    return 1;
}
