#include <redlock/json_log.hpp>

#include "observers/json_words.hpp"
#include "observers/rfc3339.hpp"

#include <boost/pfr.hpp>

#include <chrono>
#include <cstdio>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace redlock {

namespace {

using nlohmann::ordered_json;

// A member of an event, under its name.
template <class T>
void add(ordered_json& to, std::string name, T const& value)
{
    if constexpr (std::is_same_v<T, event::time>) {
        to[name] = detail::rfc3339(value);
    } else if constexpr (std::is_same_v<T, event::duration>) {
        to[name + "_us"] = std::chrono::duration_cast<std::chrono::microseconds>(value).count();
    } else if constexpr (std::is_same_v<T, error_code>) {
        to[name] = detail::error_to_json<ordered_json>(value);
    } else if constexpr (std::is_enum_v<T>) {
        to[name] = to_string(value);
    } else if constexpr (std::is_same_v<T, std::span<event::node_vote const>>) {
        ordered_json& all = to[name] = ordered_json::object();
        for (auto const& each : value) all[std::string{each.node}] = to_string(each.vote);
    } else {
        to[name] = value;
    }
}

template <class Event>
ordered_json to_json(Event const& what)
{
    ordered_json text = ordered_json::object();
    auto const member = [&](std::string_view name, auto const& value) {
        add(text, std::string{name}, value);
        if (name == "at") text["event"] = what.name;
    };
    boost::pfr::for_each_field_with_name(what, member);
    return text;
}

}  // namespace

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

void json_log::on(event::any const& what)
{
    ordered_json text = std::visit([](auto const& e) { return to_json(e); }, what);
    if (more_)
        for (auto const& [name, value] : more_(what))
            if (!text.contains(name)) text[name] = value;
    std::string const whole = text.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
    std::lock_guard const guard{writing_};
    if (!write_(whole)) failed_.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace redlock
