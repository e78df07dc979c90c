// Metrics, and the text format in which Prometheus reads them (version 0.0.4). Not thread-safe.
#ifndef REDLOCK_OBSERVERS_EXPOSITION_HPP
#define REDLOCK_OBSERVERS_EXPOSITION_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

using label_values = std::vector<std::string>;
using fixed_labels = std::vector<std::pair<std::string, std::string>>;

// Letters, digits and underscores, no digit first, no two underscores first.
bool is_label_name(std::string_view name) noexcept;

// What the metrics of one name have in common.
struct family {
    std::string name;
    std::string help;
    std::vector<std::string> labels;
};

// Values that only grow (`counter`), or go up and down (`gauge`): whole numbers, both.
class counters_and_gauges {
public:
    enum class kind { counter, gauge };

    counters_and_gauges(kind what, family of) : kind_{what}, family_{std::move(of)} {}

    // Precondition: as many as there are labels.
    std::int64_t& operator[](label_values const& values) { return values_[values]; }

    void append_to(std::string& text, fixed_labels const& fixed) const;

private:
    kind kind_;
    family family_;
    std::map<label_values, std::int64_t> values_;
};

class histograms {
public:
    histograms(family of, std::vector<double> bounds) : family_{std::move(of)}, bounds_{std::move(bounds)} {}

    // These values are shown from now on, also if nothing is observed.
    void begin_at_zero(label_values const& values) { at(values); }
    void observe(label_values const& values, double seconds);

    void append_to(std::string& text, fixed_labels const& fixed) const;

private:
    struct series {
        std::vector<std::uint64_t> counts;  // in each bucket alone; the last one is without a bound
        double sum{0};
    };
    series& at(label_values const& values);

    family family_;
    std::vector<double> bounds_;
    std::map<label_values, series> values_;
};

}  // namespace redlock::detail

#endif
