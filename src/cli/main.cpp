// The redlock command; commands.hpp says what is where.
#include "cli/arguments.hpp"
#include "cli/exit_codes.hpp"

#include <cstdio>
#include <exception>
#include <type_traits>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

namespace {

// A connection that took the place of a closed stderr would be sent our messages.
void open_what_is_closed()
{
    for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) < 0) ::_exit(redlock::cli::to_int(redlock::cli::exit_code::internal));
}

}  // namespace

int main(int argc, char** argv)
{
    using namespace redlock::cli;
    open_what_is_closed();
    try {
        auto const what = parse({argv + 1, argv + (argc > 0 ? argc : 1)});
        return std::visit(
            [](auto const& options) {
                if constexpr (std::is_same_v<std::decay_t<decltype(options)>, nothing_to_do>) return to_int(exit_code::success);
                else return execute(options);
            },
            what);
    } catch (failure const& error) {
        std::fprintf(stderr, "redlock: %s\n", error.what());
        return to_int(error.code);
    } catch (std::exception const& error) {
        std::fprintf(stderr, "redlock: %s\n", error.what());
        return to_int(exit_code::internal);
    }
}
