#include <redlock/attempt_report.hpp>

#include "api/error_text.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>

namespace redlock {

namespace {

std::string in_milliseconds(std::chrono::microseconds d)
{
    // In whole numbers, because the C library's decimal point depends on the locale.
    char text[40];
    long long const us = std::max<long long>(d.count(), 0);
    std::snprintf(text, sizeof text, "%lld.%03lld ms", us / 1000, us % 1000);
    return text;
}

using detail::on_one_line;

std::string outcome_of(attempt_report const& report)
{
    if (report.outcome) return on_one_line(report.outcome.message());
    return report.attempts > 0 ? "acquired" : "not tried";
}

void append_padded(std::string& text, std::string_view word, std::size_t width)
{
    text += word;
    text.append(width - std::min(width, word.size()), ' ');
}

void append_reason(std::string& text, node_verdict const& verdict)
{
    if (verdict.error) text += ": " + on_one_line(verdict.error.message());
    if (!verdict.detail.empty()) text += " [" + on_one_line(verdict.detail) + ']';
}

void append_line(std::string& text, node_verdict const& verdict, std::size_t name_width)
{
    text += "\n  ";
    append_padded(text, verdict.node, name_width);
    text += "  ";
    append_padded(text, to_string(verdict.vote), 7);
    text += "  ";
    bool const voted = verdict.vote == vote::granted || verdict.vote == vote::refused;
    bool const answered = voted || verdict.answered_after.count() > 0;
    text += answered                        ? "after " + in_milliseconds(verdict.answered_after)
            : verdict.vote == vote::pending ? "decided without it"
                                            : "no answer";
    append_reason(text, verdict);
}

}  // namespace

std::string first_failure(attempt_report const& report)
{
    for (node_verdict const& verdict : report.nodes) {
        if (verdict.vote != vote::failed) continue;
        std::string text = verdict.node;
        append_reason(text, verdict);
        return text;
    }
    auto const silent = [](node_verdict const& verdict) { return verdict.vote == vote::pending; };
    auto const found = std::find_if(report.nodes.begin(), report.nodes.end(), silent);
    return found == report.nodes.end() ? "" : found->node + ": no answer";
}

char const* to_string(vote v) noexcept
{
    switch (v) {
    case vote::pending: return "pending";
    case vote::granted: return "granted";
    case vote::refused: return "refused";
    case vote::failed: return "failed";
    }
    return "unknown";
}

std::ostream& operator<<(std::ostream& out, vote v) { return out << to_string(v); }

std::ostream& operator<<(std::ostream& out, attempt_report const& report)
{
    std::string const mode = report.mode == lock_mode::exclusive ? std::string{} : std::string{to_string(report.mode)} + "; ";
    std::string text = outcome_of(report) + " (" + mode + std::to_string(report.attempts) +
                       (report.attempts == 1 ? " attempt, " : " attempts, ") + in_milliseconds(report.elapsed) + ')';
    std::size_t name_width = 0;
    for (node_verdict const& verdict : report.nodes) name_width = std::max(name_width, verdict.node.size());
    for (node_verdict const& verdict : report.nodes) append_line(text, verdict, name_width);
    return out << text;
}

}  // namespace redlock
