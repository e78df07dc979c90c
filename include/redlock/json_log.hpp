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

/// Writes a line for each event, one JSON object, like
///
///     {"at":"2026-03-01T02:00:00.000412Z","event":"acquired","lock":"reports:nightly","token":1772330400000000,"origin":"nodes",…}
///
/// `event` is the name of the struct in redlock/event.hpp without its namespace, and the keys are its members; durations end in `_us` and are whole
/// microseconds. An error is `{"name": "contended", "message": "…"}`, or null. Bytes that are no UTF-8 become U+FFFD. Values of locks and
/// credentials are not part of any event.
///
/// Lifetimes: the stream, file or function must outlive the log. The log does not flush lines.
/// Thread safety: one log may serve several clients, each on any thread.
class REDLOCK_API json_log final : public observer {
public:
    /// Takes one line with its end. Called by one thread at a time. An exception of the function leaves the executor's `run()`.
    using sink = std::function<void(std::string_view line)>;

    /// Writes to a function. `executor`: see `observer::executor()`.
    explicit json_log(sink to, asio::any_io_executor executor = {});
    /// Writes to a stream.
    explicit json_log(std::ostream& to, asio::any_io_executor executor = {});
    /// Writes to a file.
    explicit json_log(std::FILE* to, asio::any_io_executor executor = {});

    /// Members of a line behind those of its event: names and texts.
    using fields = std::vector<std::pair<std::string, std::string>>;

    /// From now on each line has these members as well, for instance the ids of a trace. `more` is called by the thread that tells the event, as `on` is;
    /// a name that the event has itself is left out.
    /// Preconditions: no client has this log yet. Thread safety: not concurrently with other members.
    void add_fields(std::function<fields(event::any const&)> more) { more_ = std::move(more); }

    /// Lines that the stream or the file did not take.
    std::uint64_t lines_failed() const noexcept { return failed_.load(std::memory_order_relaxed); }

    /// The executor that the constructor was given.
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
