// The main function of the redlock command; commands.hpp lists the command's parts.
#include "cli/options/arguments.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/notes.hpp"

#include <exception>
#include <type_traits>
#include <variant>

#include <fcntl.h>
#include <unistd.h>

namespace {

// If the command is started with stderr closed, the next connection would get its descriptor, and our messages would go there. In place of a closed
// stdout stands what cannot be written to, so that a command whose answer nobody gets does not end as if somebody had.
void open_closed_standard_streams()
{
    for (int const fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", fd == STDOUT_FILENO ? O_RDONLY : O_RDWR) < 0)
            ::_exit(redlock::cli::to_int(redlock::cli::exit_code::internal));
}

}  // namespace

int main(int argc, char** argv)
{
    using namespace redlock::cli;
    open_closed_standard_streams();
    try {
        auto const parsed = parse({argv + 1, argv + (argc > 0 ? argc : 1)});
        return std::visit(
            [](auto const& options) {
                if constexpr (std::is_same_v<std::decay_t<decltype(options)>, nothing_to_do>) return to_int(exit_code::success);
                else return execute(options);
            },
            parsed);
    } catch (failure const& error) {
        say_on_stderr(error.what());
        return to_int(error.code);
    } catch (std::exception const& error) {
        say_on_stderr(error.what());
        return to_int(exit_code::internal);
    }
}
