#include "cli/output/progress.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/terminal.hpp"

#include <chrono>
#include <cstdint>

#include <unistd.h>

namespace redlock::cli {

namespace {

constexpr std::chrono::seconds patience_with_stdout{1};

}  // namespace

progress::progress() : problem_{problem_of_descriptor(STDOUT_FILENO)}
{
    if (!problem_.empty()) return;
    to_.emplace(
        io_.get_executor(), STDOUT_FILENO, [](std::uint64_t) { return std::string{}; }, [this](std::string const& why) { problem_ = why; });
}

progress::~progress()
{
    if (to_) to_->drain(patience_with_stdout);
}

void progress::say(std::string_view text)
{
    if (to_) to_->write(text);
}

void progress::check()
{
    if (to_ && !to_->drain(patience_with_stdout)) problem_ = "nobody reads it";
    if (!problem_.empty()) throw failure{exit_code::internal, cannot_write + problem_ + "; all else was done"};
}

}  // namespace redlock::cli
