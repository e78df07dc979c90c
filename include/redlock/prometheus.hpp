// An observer that makes metrics for Prometheus of a client's events.
#ifndef REDLOCK_PROMETHEUS_HPP
#define REDLOCK_PROMETHEUS_HPP

#include <redlock/detail/export.hpp>
#include <redlock/observer.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

/// The buckets and labels of `prometheus`.
struct prometheus_options {
    /// The upper bounds of the buckets of `redlock_acquire_seconds`, in seconds, each larger than the one before. The bucket `+Inf` is added.
    std::vector<double> acquire_buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
    /// The same for `redlock_hold_seconds`, in seconds: how long locks are held.
    std::vector<double> hold_buckets{0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600};

    /// Makes the value of the label `lock` from the name of a lock. Default: no such label, since Prometheus keeps a time series for every value of a
    /// label, and names like `order:4711` have no end. Return one of few values, as in `orders`.
    std::function<std::string(std::string_view lock)> lock_label{};

    /// The largest number of different values of `lock`. Further values become "other".
    std::size_t max_lock_labels{100};

    /// Labels of every time series, for programs with several clients: `{{"client", "billing"}}`.
    std::vector<std::pair<std::string, std::string>> labels{};
};

/// Counters, gauges and histograms of a client's work, in the text format of Prometheus (version 0.0.4). The program has to serve the text:
/// examples/observing.cpp answers GET /metrics with it. docs/observing.md says what each metric means.
///
/// Thread safety: `text()` may be called from any thread at any time. One object may serve several clients. Their metrics are then added up, and
/// nodes with the same address count as one node.
class REDLOCK_API prometheus final : public observer {
public:
    /// The value of the HTTP header Content-Type for `text()`.
    static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

    /// Throws `std::invalid_argument` if bounds of buckets do not grow, or if a label's name is not valid or is used already.
    explicit prometheus(prometheus_options options = {}, asio::any_io_executor executor = {});
    prometheus(prometheus const&) = delete;
    prometheus& operator=(prometheus const&) = delete;
    ~prometheus() override;

    /// All metrics with their present values.
    std::string text() const;

    /// The executor that the constructor got.
    asio::any_io_executor executor() const override { return executor_; }

    void on(event::any const& what) override;

private:
    struct metrics;

    std::unique_ptr<metrics> metrics_;
    asio::any_io_executor executor_;
};

}  // namespace redlock

#endif
