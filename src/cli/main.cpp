// The redlock command; commands.hpp says what is where.
#include "cli/arguments.hpp"
#include "cli/exit_codes.hpp"

#include <cstdio>
#include <exception>
#include <type_traits>
#include <variant>

int main(int argc, char** argv)
{
    using namespace redlock::cli;
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
