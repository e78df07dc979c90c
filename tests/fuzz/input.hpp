// What the fuzzers share: bytes as a source of choices, and properties that must hold.
#ifndef REDLOCK_TESTS_FUZZ_INPUT_HPP
#define REDLOCK_TESTS_FUZZ_INPUT_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace redlock::fuzz {

/// A finding is a crash, also where assertions are off: libFuzzer keeps the input that led there.
inline void check(bool holds, char const* property, std::string_view more = {})
{
    if (holds) return;
    std::string const text = std::string{"broken property: "}.append(property).append("\n").append(more).append("\n");
    std::fputs(text.c_str(), stderr);
    std::abort();
}

/// Bytes that are used up from the front. Behind their end everything is zero, so every input has a meaning.
class input {
public:
    input(std::uint8_t const* data, std::size_t size) : rest_{reinterpret_cast<char const*>(data), size} {}

    bool empty() const noexcept { return rest_.empty(); }

    std::uint8_t byte() noexcept
    {
        if (rest_.empty()) return 0;
        auto const b = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return b;
    }

    bool flag() noexcept { return (byte() & 1u) != 0; }

    /// 0 to count - 1; up to 256.
    std::size_t below(std::size_t count) noexcept { return byte() % count; }

    template <class T, std::size_t size>
    T const& one_of(std::array<T, size> const& choices) noexcept
    {
        return choices[below(size)];
    }

    /// Of so many bytes, big-endian.
    std::uint64_t number(std::size_t bytes) noexcept
    {
        std::uint64_t n = 0;
        for (std::size_t i = 0; i < bytes; ++i) n = n << 8 | byte();
        return n;
    }

    std::string_view text(std::size_t max_size) noexcept
    {
        auto const taken = rest_.substr(0, byte() % (max_size + 1));
        rest_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view rest() noexcept
    {
        auto const all = rest_;
        rest_ = {};
        return all;
    }

private:
    std::string_view rest_;
};

}  // namespace redlock::fuzz

#endif
