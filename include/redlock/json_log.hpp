// An observer that writes a log: one JSON object a line, for each event.
#ifndef REDLOCK_JSON_LOG_HPP
#define REDLOCK_JSON_LOG_HPP

#include <redlock/detail/export.hpp>
#include <redlock/observer.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <iosfwd>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

/// Writes one JSON object a line for each event:
///
///     {"at":"2026-03-01T02:00:00.000412Z","event":"acquired","lock":"reports:nightly","token":1772330400000000,"origin":"nodes",…}
///
/// `event` is the name of the struct in redlock/event.hpp, and the other keys are its members; durations end in `_us` and are whole
/// microseconds. An error is `{"name": "contended", "message": "…"}` or null. Bytes that are not UTF-8 become U+FFFD. No event contains
/// values of locks or credentials.
///
/// Lifetimes: the stream, file or function must outlive the log. The log does not flush.
/// Thread safety: one log may serve several clients, each on any thread.
class REDLOCK_API json_log final : public observer {
public:
    /// Receives one line including its end. Called by one thread at a time. Its exceptions leave the executor's `run()`.
    using sink = std::function<void(std::string_view line)>;

    /// Writes to a function. `executor`: see `observer::executor()`.
    explicit json_log(sink to, asio::any_io_executor executor = {});
    /// Writes to a stream.
    explicit json_log(std::ostream& to, asio::any_io_executor executor = {});
    /// Writes to a file.
    explicit json_log(std::FILE* to, asio::any_io_executor executor = {});

    /// Names and texts, appended to the members of an event.
    using fields = std::vector<std::pair<std::string, std::string>>;

    /// Adds these members to each line, for instance the ids of a trace. `more` is called by the thread that delivers the event; names that
    /// the event itself has are left out.
    /// Preconditions: no client has this log yet.
    /// Thread safety: not concurrently with other members.
    void add_fields(std::function<fields(event::any const&)> more) { more_ = std::move(more); }

    /// How many lines the stream or the file did not accept.
    std::uint64_t lines_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

    /// The executor given to the constructor.
    asio::any_io_executor executor() const override { return executor_; }

    void on(event::any const& what) override;

private:
    std::function<bool(std::string_view)> write_;
    std::function<fields(event::any const&)> more_;  // empty: there are none
    asio::any_io_executor executor_;
    std::mutex writing_;
    std::atomic<std::uint64_t> failed_{0};
};

}  // namespace redlock

#endif
