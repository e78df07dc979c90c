// Five nodes, three processes that contend for a few locks, and faults; see play.cpp for the script.
//
// Exit code: 0 when nothing went wrong, 1 when something did, 130 after Ctrl-C. In each case the workers, the servers and their
// folders are gone.
#include "crew.hpp"
#include "fleet.hpp"
#include "interrupts.hpp"
#include "play.hpp"
#include "shared_board.hpp"
#include "stage.hpp"
#include "summary.hpp"
#include "terminal.hpp"
#include "text.hpp"
#include "timeline.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

using namespace demo;

void start(fleet& servers, terminal const& out)
{
    std::string ports;
    for (std::size_t node = 0; node < node_count; ++node) {
        servers.add();
        ports.append(1, ' ').append(std::to_string(servers.port(node)));
        pause(0ms);
    }
    out.write("  five redis-servers on loopback ports" + ports + "\n");
}

bool run()
{
    terminal const out;
    shared_board board;
    fleet servers;
    start(servers, out);
    crew workers{*board, servers.urls()};

    auto lines = make_timeline(out);
    stage show{*board, servers, workers, *lines};
    play(show);
    lines.reset();

    auto const wrong = complaints(*board, workers.all_succeeded());
    print_summary(out, *board, show.elapsed(), wrong);
    return wrong.empty();
}

}  // namespace

int main()
{
    constexpr int exit_interrupted = 130;
    hold_interrupts();
    try {
        return run() ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (interrupted const&) {
        std::fputs("\ninterrupted: the workers, the servers and their folders are gone\n", stderr);
        return exit_interrupted;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "redlock_demo: %s\n", error.what());
    }
    return EXIT_FAILURE;
}
