// The wall clock of a server that runs under the preloaded library.
#ifndef REDLOCK_TESTS_FAULTS_CLOCK_FILE_HPP
#define REDLOCK_TESTS_FAULTS_CLOCK_FILE_HPP

#include "clock_state.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::faults {

/// Thread safety: none.
class clock_file {
public:
    /// Makes the file; the clock is right. Throws `std::system_error`.
    explicit clock_file(std::filesystem::path file);
    clock_file(clock_file const&) = delete;
    clock_file& operator=(clock_file const&) = delete;
    ~clock_file();

    void step(std::chrono::milliseconds by) { change(by, state_->lines[state_->current].rate_ppm); }

    /// From now on it runs so much too fast. What it was wrong by until now stays.
    void slew(std::int64_t ppm) { change({}, ppm); }

    /// How to run a program with this clock: what `redis_server_options::under` takes.
    std::vector<std::string> under() const;

private:
    void change(std::chrono::milliseconds step, std::int64_t ppm);

    std::filesystem::path file_;
    clock_state* state_;
};

}  // namespace redlock::faults

#endif
