// Five nodes, three processes that contend for a few locks, and faults; see play.cpp for the script.
//
//   redlock_demo [--dashboard REDLOCK]   REDLOCK: the redlock command, which shows all of it to a browser
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

#include <support/child_process.hpp>
#include <support/temporary_folder.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>

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

// A browser's page of the servers, for as long as this object is there.
class page {
public:
    page(char const* redlock, fleet const& servers, terminal const& out) : program_{redlock, arguments(servers), folder_.path() / "output"}
    {
        out.write("  in a browser: http://" + std::string{address} + "/ (the demo begins in 8 seconds)\n");
        pause(8s);
        if (!program_.running())
            throw std::runtime_error{std::string{redlock} + " dashboard has ended: does something else listen on " + address + '?'};
    }

private:
    static constexpr char const* address = "127.0.0.1:8480";

    static std::vector<std::string> arguments(fleet const& servers)
    {
        std::string nodes;
        for (auto const& url : servers.urls()) nodes += (nodes.empty() ? "" : ",") + url;
        return {"dashboard", "--listen", address, "--interval", "200ms", "--nodes", nodes};
    }

    redlock::testing::temporary_folder folder_{"redlock-demo-"};
    redlock::testing::child_process program_;
};

bool run(char const* redlock)
{
    terminal const out;
    shared_board board;
    fleet servers;
    start(servers, out);
    std::optional<page> shown;
    if (redlock != nullptr) shown.emplace(redlock, servers, out);
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

int main(int argc, char** argv)
{
    constexpr int exit_interrupted = 130;
    bool const with_page = argc == 3 && argv[1] == std::string_view{"--dashboard"};
    if (argc > 1 && !with_page) {
        std::fputs("usage: redlock_demo [--dashboard REDLOCK]\n", stderr);
        return EXIT_FAILURE;
    }
    hold_interrupts();
    try {
        return run(with_page ? argv[2] : nullptr) ? EXIT_SUCCESS : EXIT_FAILURE;
    } catch (interrupted const&) {
        std::fputs("\ninterrupted: the workers, the servers and their folders are gone\n", stderr);
        return exit_interrupted;
    } catch (std::exception const& error) {
        std::fprintf(stderr, "redlock_demo: %s\n", error.what());
    }
    return EXIT_FAILURE;
}
