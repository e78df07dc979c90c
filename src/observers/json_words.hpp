// How parts of events and of client_status look in JSON, for json_log and status_json.
#ifndef REDLOCK_OBSERVERS_JSON_WORDS_HPP
#define REDLOCK_OBSERVERS_JSON_WORDS_HPP

#include <redlock/error.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace redlock::detail {

// Texts from servers and users may be no UTF-8: such bytes become U+FFFD.
inline std::string valid_utf8(std::string_view text)
{
    using nlohmann::json;
    return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace)).get<std::string>();
}

// `contended`; for codes of other categories `system:111`.
inline std::string name_of(error_code ec)
{
    if (ec.category() == error_category())
        if (auto const* const name = to_string(static_cast<errc>(ec.value()))) return name;
    return std::string{ec.category().name()} + ':' + std::to_string(ec.value());
}

template <class Json>
Json error_to_json(error_code ec)
{
    if (!ec) return nullptr;
    return Json{{"name", name_of(ec)}, {"message", valid_utf8(ec.message())}};
}

}  // namespace redlock::detail

#endif
