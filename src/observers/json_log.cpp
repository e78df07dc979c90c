#include <redlock/json_log.hpp>

#include "observers/json_words.hpp"

#include <chrono>
#include <cstdio>
#include <ostream>
#include <string>
#include <utility>

namespace redlock {

namespace {

using json = nlohmann::ordered_json;

// RFC 3339.
std::string to_text(event::time at)
{
    auto const day = std::chrono::floor<std::chrono::days>(at);
    std::chrono::year_month_day const date{day};
    std::chrono::hh_mm_ss const time{at - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                  static_cast<int>(time.subseconds().count()));
    return text;
}

auto in_us(event::duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d).count(); }

}  // namespace

// One event on its way to the log: written when it goes.
class json_log::line {
public:
    line(json_log& to, char const* what, event::time at) : to_{to}, text_{{"at", to_text(at)}, {"event", what}} {}

    line& with(char const* key, json value)
    {
        text_[key] = std::move(value);
        return *this;
    }
    line& with(char const* key, event::duration d) { return with(key, json(in_us(d))); }
    line& with(char const* key, error_code ec) { return with(key, detail::error_to_json<json>(ec)); }
    line& with(std::span<event::node_vote const> votes)
    {
        json all = json::object();
        for (auto const& each : votes) all[std::string{each.node}] = to_string(each.vote);
        return with("votes", std::move(all));
    }

    void write()
    {
        std::string const whole = text_.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
        std::lock_guard const guard{to_.writing_};
        if (!to_.write_(whole)) to_.failed_.fetch_add(1, std::memory_order_relaxed);
    }

private:
    json_log& to_;
    json text_;
};

json_log::json_log(sink to, asio::any_io_executor executor)
    : write_{[to = std::move(to)](std::string_view text) {
          to(text);
          return true;
      }},
      executor_{std::move(executor)}
{
}

json_log::json_log(std::ostream& to, asio::any_io_executor executor)
    : write_{[&to](std::string_view text) { return static_cast<bool>(to.write(text.data(), static_cast<std::streamsize>(text.size()))); }},
      executor_{std::move(executor)}
{
}

json_log::json_log(std::FILE* to, asio::any_io_executor executor)
    : write_{[to](std::string_view text) { return std::fwrite(text.data(), 1, text.size(), to) == text.size(); }},
      executor_{std::move(executor)}
{
}

void json_log::on_acquired(event::acquired const& e)
{
    line{*this, "acquired", e.at}
        .with("lock", e.lock)
        .with("token", e.token)
        .with("origin", to_string(e.origin))
        .with("waited_us", e.waited)
        .with("attempts", e.attempts)
        .with("valid_for_us", e.valid_for)
        .with("nodes_held", e.nodes_held)
        .with(e.votes)
        .write();
}

void json_log::on_contended(event::contended const& e)
{
    line{*this, "contended", e.at}
        .with("lock", e.lock)
        .with("by_this_client", e.by_this_client)
        .with("waited_us", e.waited)
        .with("attempts", e.attempts)
        .with(e.votes)
        .write();
}

void json_log::on_attempt_failed(event::attempt_failed const& e)
{
    line{*this, "attempt_failed", e.at}
        .with("lock", e.lock)
        .with("why", e.why)
        .with("waited_us", e.waited)
        .with("attempts", e.attempts)
        .with(e.votes)
        .write();
}

void json_log::on_not_acquired(event::not_acquired const& e)
{
    line{*this, "not_acquired", e.at}
        .with("lock", e.lock)
        .with("why", e.why)
        .with("waited_us", e.waited)
        .with("attempts", e.attempts)
        .write();
}

void json_log::on_self_wait(event::self_wait const& e) { line{*this, "self_wait", e.at}.with("lock", e.lock).write(); }

void json_log::on_extended(event::extended const& e)
{
    line{*this, "extended", e.at}
        .with("lock", e.lock)
        .with("token", e.token)
        .with("took_us", e.took)
        .with("valid_for_us", e.valid_for)
        .with("nodes_held", e.nodes_held)
        .write();
}

void json_log::on_extension_failed(event::extension_failed const& e)
{
    line{*this, "extension_failed", e.at}
        .with("lock", e.lock)
        .with("token", e.token)
        .with("outcome", to_string(e.outcome))
        .with("took_us", e.took)
        .with("valid_for_us", e.valid_for)
        .with("nodes_held", e.nodes_held)
        .write();
}

void json_log::on_lost(event::lost const& e)
{
    line{*this, "lost", e.at}
        .with("lock", e.lock)
        .with("token", e.token)
        .with("why", e.why)
        .with("held_for_us", e.held_for)
        .with("valid_for_us", e.valid_for)
        .write();
}

void json_log::on_released(event::released const& e)
{
    line{*this, "released", e.at}
        .with("lock", e.lock)
        .with("token", e.token)
        .with("held_for_us", e.held_for)
        .with("took_us", e.took)
        .with("result", e.result)
        .with("was_lost", e.was_lost)
        .write();
}

void json_log::on_handed_over(event::handed_over const& e)
{
    line{*this, "handed_over", e.at}.with("lock", e.lock).with("token", e.token).with("held_for_us", e.held_for).write();
}

void json_log::on_overrun(event::overrun const& e)
{
    line{*this, "overrun", e.at}.with("lock", e.lock).with("token", e.token).with("by_us", e.by).write();
}

void json_log::on_watchdog_late(event::watchdog_late const& e)
{
    line{*this, "watchdog_late", e.at}.with("lock", e.lock).with("token", e.token).with("by_us", e.by).write();
}

void json_log::on_late_grant_undone(event::late_grant_undone const& e)
{
    line{*this, "late_grant_undone", e.at}.with("lock", e.lock).with("node", e.node).write();
}

void json_log::on_node_up(event::node_up const& e) { line{*this, "node_up", e.at}.with("node", e.node).write(); }

void json_log::on_node_down(event::node_down const& e)
{
    line{*this, "node_down", e.at}.with("node", e.node).with("why", e.why).with("text", e.text).write();
}

void json_log::on_node_excluded(event::node_excluded const& e)
{
    line{*this, "node_excluded", e.at}.with("node", e.node).with("standing", to_string(e.standing)).with("text", e.text).write();
}

void json_log::on_node_admitted(event::node_admitted const& e) { line{*this, "node_admitted", e.at}.with("node", e.node).write(); }

void json_log::on_clock_stepped(event::clock_stepped const& e)
{
    line{*this, "clock_stepped", e.at}.with("node", e.node).with("by_us", e.by).with("text", e.text).write();
}

void json_log::on_dropped(event::dropped const& e) { line{*this, "dropped", e.at}.with("events", e.events).write(); }

}  // namespace redlock
