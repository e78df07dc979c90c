// An observer that counts, for Prometheus.
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

/// What `prometheus` counts into which series.
struct prometheus_options {
    /// The upper bounds of the histograms' buckets, in seconds, each larger than the one before. The one without a bound is added.
    std::vector<double> acquire_buckets{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
    /// The same for how long locks are held, in seconds.
    std::vector<double> hold_buckets{0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600};

    /// What to make of a lock's name for the label `lock`. Default: no such label, since every value of a label is a time series that Prometheus
    /// keeps: names like `order:4711` would be without number. Return something of which there are few (`orders`).
    std::function<std::string(std::string_view lock)> lock_label{};

    /// After so many different ones, `lock` is "other".
    std::size_t lock_labels_max{100};

    /// Labels of every time series, for programs with several clients: `{{"client", "billing"}}`.
    std::vector<std::pair<std::string, std::string>> labels{};
};

/// Counters, gauges and histograms of what a client does, in the text format that Prometheus reads (version 0.0.4). How the text gets there is
/// up to the program: examples/observing.cpp answers GET /metrics with it. docs/observing.md says what each metric means.
///
/// Thread safety: `text()` may be called from any thread at any time. One object may serve several clients; nodes of the same address are then
/// the same.
class REDLOCK_API prometheus final : public observer {
public:
    /// What the HTTP header of that name says.
    static constexpr std::string_view content_type = "text/plain; version=0.0.4; charset=utf-8";

    /// Throws `std::invalid_argument` for buckets that do not grow, and for labels that are no label names, or already taken.
    explicit prometheus(prometheus_options options = {}, asio::any_io_executor executor = {});
    prometheus(prometheus const&) = delete;
    prometheus& operator=(prometheus const&) = delete;
    ~prometheus() override;

    /// All metrics as they are now.
    std::string text() const;

    /// The one that the constructor was given.
    asio::any_io_executor executor() const override { return executor_; }

    void on(event::any const& what) override;

private:
    struct metrics;

    std::unique_ptr<metrics> metrics_;
    asio::any_io_executor executor_;
};

}  // namespace redlock

#endif
