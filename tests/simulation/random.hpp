// The chance of a schedule: xoshiro256++ (Blackman and Vigna), in integers only, so that every compiler draws the same.
#ifndef REDLOCK_TESTS_SIMULATION_RANDOM_HPP
#define REDLOCK_TESTS_SIMULATION_RANDOM_HPP

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace redlock::simulation {

class random {
public:
    explicit random(std::uint64_t seed) noexcept
    {
        for (auto& word : state_) {  // splitmix64
            seed += 0x9e3779b97f4a7c15u;
            std::uint64_t z = seed;
            z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
            z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
            word = z ^ (z >> 31);
        }
    }

    std::uint64_t next() noexcept
    {
        auto& s = state_;
        std::uint64_t const result = std::rotl(s[0] + s[3], 23) + s[0];
        std::uint64_t const t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = std::rotl(s[3], 45);
        return result;
    }

    // 0 to n - 1.
    std::size_t below(std::size_t n) noexcept { return static_cast<std::size_t>(next() % n); }

    bool one_in(std::size_t n) noexcept { return below(n) == 0; }
    bool percent(std::size_t n) noexcept { return below(100) < n; }

    // Both bounds included.
    std::int64_t between(std::int64_t low, std::int64_t high) noexcept
    {
        return low + static_cast<std::int64_t>(next() % static_cast<std::uint64_t>(high - low + 1));
    }
    std::chrono::nanoseconds between(std::chrono::nanoseconds low, std::chrono::nanoseconds high) noexcept
    {
        return std::chrono::nanoseconds{between(low.count(), high.count())};
    }

    // Of a value up to `high`, small ones as likely as large ones: 1, 10, 100 ... each its share.
    std::chrono::nanoseconds scaled(std::chrono::nanoseconds high) noexcept
    {
        auto const shift = below(8);
        return between(std::chrono::nanoseconds{0}, high / (std::int64_t{1} << shift));
    }

    template <class T, std::size_t N>
    T pick(std::array<T, N> const& from) noexcept
    {
        return from[below(N)];
    }

private:
    std::array<std::uint64_t, 4> state_{};
};

}  // namespace redlock::simulation

#endif
