#include "pace.hpp"

#include <chrono>
#include <csignal>
#include <stdexcept>

#include <poll.h>

namespace redlock::faults {
namespace {

std::sig_atomic_t volatile interrupted = 0;

}  // namespace

void heed_interruptions()
{
    for (int const signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int) { interrupted = 1; });
}

void sleep_until(moment when)
{
    while (boot_clock::now() < when) {
        ::poll(nullptr, 0, static_cast<int>(std::chrono::ceil<milliseconds>(when - boot_clock::now()).count()));
        if (interrupted != 0) throw std::runtime_error{"interrupted"};
    }
}

}  // namespace redlock::faults
