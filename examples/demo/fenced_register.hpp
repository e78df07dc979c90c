// What a lock protects: a register that refuses a writer with a smaller token than it has seen.
#ifndef REDLOCK_DEMO_FENCED_REGISTER_HPP
#define REDLOCK_DEMO_FENCED_REGISTER_HPP

#include <atomic>
#include <cstdint>

namespace demo {

// Lives in shared memory. What is written is the token itself, so that comparing and writing are one step.
class fenced_register {
public:
    // The first write of a new holder. Whether its token is larger than every one before.
    bool begin(std::uint64_t token) noexcept { return write_over(token) < token; }

    // A further write. Whether it was accepted: nobody with a larger token has been here.
    bool write(std::uint64_t token) noexcept { return write_over(token) <= token; }

    std::uint64_t accepted() const noexcept { return accepted_; }
    std::uint64_t refused() const noexcept { return refused_; }

private:
    // Returns what was there before, and stays if that was larger.
    std::uint64_t write_over(std::uint64_t token) noexcept
    {
        auto before = content_.load();
        while (before <= token && !content_.compare_exchange_weak(before, token)) {}
        (before <= token ? accepted_ : refused_).fetch_add(1);
        return before;
    }

    std::atomic<std::uint64_t> content_{0};
    std::atomic<std::uint64_t> accepted_{0};
    std::atomic<std::uint64_t> refused_{0};
};

}  // namespace demo

#endif
