#include "observers/exposition.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>

namespace redlock::detail {

namespace {

// Without the C library, whose decimal point depends on the locale.
std::string text_of(double value)
{
    char text[40];
    auto const end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

void append_escaped(std::string& text, std::string_view value, bool quotes)
{
    for (char const c : value) {
        switch (c) {
        case '\\': text += "\\\\"; break;
        case '\n': text += "\\n"; break;
        case '"': text += quotes ? "\\\"" : "\""; break;
        default: text += c;
        }
    }
}

void append_head(std::string& text, family const& of, std::string_view type)
{
    text.append("# HELP ").append(of.name) += ' ';
    append_escaped(text, of.help, false);
    text.append("\n# TYPE ").append(of.name).append(1, ' ').append(type) += '\n';
}

// name{label="value",...}, and a space. `le`: the upper bound of a bucket, as Prometheus calls it; empty: this is no bucket.
void append_series(std::string& text, family const& of, std::string_view suffix, fixed_labels const& fixed, label_values const& values,
                   std::string_view le = {})
{
    assert(values.size() == of.labels.size());
    text.append(of.name).append(suffix);
    char separator = '{';
    auto const label = [&](std::string_view name, std::string_view value) {
        text += separator;
        text.append(name).append("=\"");
        append_escaped(text, value, true);
        text += '"';
        separator = ',';
    };
    for (auto const& [name, value] : fixed) label(name, value);
    for (std::size_t i = 0; i < values.size(); ++i) label(of.labels[i], values[i]);
    if (!le.empty()) label("le", le);
    text += separator == ',' ? "} " : " ";
}

}  // namespace

bool is_label_name(std::string_view name) noexcept
{
    auto const letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
    auto const digit = [](char c) { return c >= '0' && c <= '9'; };
    if (name.empty() || digit(name.front()) || name.starts_with("__")) return false;
    return std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

void counters_and_gauges::append_to(std::string& text, fixed_labels const& fixed) const
{
    append_head(text, family_, kind_ == kind::counter ? "counter" : "gauge");
    for (auto const& [values, value] : values_) {
        append_series(text, family_, "", fixed, values);
        text.append(std::to_string(value)) += '\n';
    }
}

histograms::series& histograms::at(label_values const& values)
{
    series& found = values_[values];
    if (found.counts.empty()) found.counts.resize(bounds_.size() + 1);
    return found;
}

void histograms::observe(label_values const& values, double seconds)
{
    series& into = at(values);
    auto const bucket = std::lower_bound(bounds_.begin(), bounds_.end(), seconds) - bounds_.begin();
    ++into.counts[static_cast<std::size_t>(bucket)];
    into.sum += seconds;
}

void histograms::append_to(std::string& text, fixed_labels const& fixed) const
{
    append_head(text, family_, "histogram");
    for (auto const& [values, each] : values_) {
        std::uint64_t count = 0;
        for (std::size_t i = 0; i < each.counts.size(); ++i) {
            count += each.counts[i];
            append_series(text, family_, "_bucket", fixed, values, i < bounds_.size() ? text_of(bounds_[i]) : "+Inf");
            text.append(std::to_string(count)) += '\n';
        }
        append_series(text, family_, "_sum", fixed, values);
        text.append(text_of(each.sum)) += '\n';
        append_series(text, family_, "_count", fixed, values);
        text.append(std::to_string(count)) += '\n';
    }
}

}  // namespace redlock::detail
