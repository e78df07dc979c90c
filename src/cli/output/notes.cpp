#include "cli/output/notes.hpp"

#include "cli/output/text.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>

#include <unistd.h>

namespace redlock::cli {

namespace {

constexpr std::chrono::seconds patience_with_stderr{1};

std::string note_line(std::string const& text) { return "redlock: " + text + '\n'; }

std::string missing_notes(std::uint64_t count) { return note_line(count_of(count, "message") + " left out here: nobody read them"); }

}  // namespace

// There is nobody to tell of an error.
notes::notes(asio::any_io_executor const& executor) : to_{executor, STDERR_FILENO, missing_notes, [](std::string const&) {}} {}

notes::~notes() { to_.drain(patience_with_stderr); }

void notes::say(std::string const& text) { to_.write(note_line(text)); }

void notes::stop_waiting() { to_.stop_waiting(); }

void say_on_stderr(std::string const& text)
{
    try {
        asio::io_context io{1};
        notes{io.get_executor()}.say(text);
    } catch (std::exception const&) {  // no descriptor is left
        std::fputs(note_line(text).c_str(), stderr);
    }
}

}  // namespace redlock::cli
