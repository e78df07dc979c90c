// Writes lines to a descriptor that somebody else reads, and never waits for the reader: `redlock run` must go on extending its lease. Lines that the
// reader is not ready for are kept; what is beyond the space for them is dropped, and counted.
#ifndef REDLOCK_CLI_OUTPUT_EVENT_STREAM_HPP
#define REDLOCK_CLI_OUTPUT_EVENT_STREAM_HPP

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

// Why nobody can write to the descriptor, as a sentence about it; empty: it is open for writing.
std::string problem_of_descriptor(int descriptor);

class event_stream {
public:
    static constexpr std::size_t max_kept = 262'144;  // bytes

    // Makes an event for so many dropped lines: one line with its end.
    using dropped_line = std::function<std::string(std::uint64_t)>;
    // Is told once when lines can be written no more, and why.
    using failure_handler = std::function<void(std::string const&)>;

    // Precondition: problem_of_descriptor(descriptor) is empty. Programs that this process starts do not inherit a descriptor above 2.
    event_stream(asio::any_io_executor const& executor, int descriptor, dropped_line dropped, failure_handler failed);

    // `line`: with its end.
    void write(std::string_view line);

    // From now on nothing waits for the reader any more, so that the executor's run() can return; write() goes on to try.
    void stop_waiting();

    // Waits for the reader until all is written, or for `patience` at most. False: something is left.
    bool drain(std::chrono::milliseconds patience);

private:
    void push();
    void await_reader();
    void add_dropped();
    long put(std::string_view bytes) noexcept;

    asio::posix::stream_descriptor descriptor_;  // of our own, for the same file
    bool socket_{false};
    dropped_line dropped_line_;
    failure_handler failed_;
    std::string kept_;
    std::uint64_t dropped_{0};
    bool broken_{false};
    bool awaits_reader_{false};
    bool stopped_{false};
    std::shared_ptr<bool const> const exists_{std::make_shared<bool const>(true)};  // while this object does
};

}  // namespace redlock::cli

#endif
