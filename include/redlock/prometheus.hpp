// An observer that counts a client's events for Prometheus.
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
    /// The upper bounds of the buckets of `redlock_acquire_seconds`, in seconds and increasing. `+Inf` is added.
    std::vector<double> acquire_buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
    /// The same for `redlock_hold_seconds`, in seconds: how long locks are held.
    std::vector<double> hold_buckets{0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600};

    /// Maps the name of a lock to the value of the label `lock`. Default: no such label, because Prometheus keeps a time series for each
    /// value, and names such as `order:4711` are unlimited. Return one of few values, such as `orders`.
    std::function<std::string(std::string_view lock)> lock_label{};

    /// The largest number of different values of `lock`; further ones become "other".
    std::size_t max_lock_labels{100};

    /// Labels of all time series, for programs with several clients: `{{"client", "billing"}}`.
    std::vector<std::pair<std::string, std::string>> labels{};
};

/// Counters, gauges and histograms of a client's work, in Prometheus's text format (version 0.0.4). The program has to serve the text, as
/// examples/observing.cpp does for GET /metrics. docs/observing.md explains each metric.
///
/// Thread safety: `text()` may be called from any thread at any time. Several clients may share one object: their metrics are added, and
/// nodes with the same address count as one.
class REDLOCK_API prometheus final : public observer {
public:
    /// The HTTP header Content-Type for `text()`.
    static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

    /// Throws `std::invalid_argument` if bounds of buckets do not increase, or if a label's name is invalid or in use.
    explicit prometheus(prometheus_options options = {}, asio::any_io_executor executor = {});
    prometheus(prometheus const&) = delete;
    prometheus& operator=(prometheus const&) = delete;
    ~prometheus() override;

    /// All metrics with their present values.
    std::string text() const;

    /// The executor given to the constructor.
    asio::any_io_executor executor() const override { return executor_; }

    void on(event::any const& what) override;

private:
    struct metrics;

    std::unique_ptr<metrics> metrics_;
    asio::any_io_executor executor_;
};

}  // namespace redlock

#endif
