// How much memory this process takes.
#ifndef REDLOCK_TESTS_INTEGRATION_GROWTH_HPP
#define REDLOCK_TESTS_INTEGRATION_GROWTH_HPP

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redlock::testing {

// Bytes by which this process has grown since it was made, at its largest.
class growth {
public:
    growth()
    {
        std::ofstream{"/proc/self/clear_refs"} << "5";  // forgets what was the largest before
        before_ = of("VmRSS:");
    }
    std::size_t most() const { return of("VmHWM:") - std::min(before_, of("VmHWM:")); }

private:
    static std::size_t of(std::string_view what)
    {
        std::ifstream status{"/proc/self/status"};
        for (std::string word; status >> word;) {
            std::size_t kb = 0;
            if (word == what && status >> kb) return kb * 1024;
        }
        throw std::runtime_error{"/proc/self/status does not say how much memory there is"};
    }

    std::size_t before_;
};

inline constexpr std::size_t mb = 1024 * 1024;

// AddressSanitizer keeps what was freed for a while.
#if defined(__SANITIZE_ADDRESS__)
#define REDLOCK_KEEPS_WHAT_WAS_FREED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define REDLOCK_KEEPS_WHAT_WAS_FREED 1
#endif
#endif
#ifdef REDLOCK_KEEPS_WHAT_WAS_FREED
inline constexpr std::size_t max_growth = 256 * mb;
#else
inline constexpr std::size_t max_growth = 32 * mb;
#endif

}  // namespace redlock::testing

#endif
