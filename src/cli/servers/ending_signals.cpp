#include "cli/servers/ending_signals.hpp"

#include <csignal>

namespace redlock::cli {

void add_unless_ignored(boost::asio::signal_set& signals, std::initializer_list<int> numbers)
{
    for (int const number : numbers) {
        struct sigaction now{};
        if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_IGN) signals.add(number);
    }
}

}  // namespace redlock::cli
