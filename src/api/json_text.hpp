// Parses JSON text more strictly than nlohmann::json does alone: a key that appears twice is an error, since all but one of its values
// would have no effect. Only for json.cpp.
#ifndef REDLOCK_API_JSON_TEXT_HPP
#define REDLOCK_API_JSON_TEXT_HPP

#include <redlock/config.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace redlock {

// A key, as an error text may show it. A key that does not look like a word becomes "...", since it can be a misplaced URL that contains a
// password.
inline std::string key_in_words(std::string const& key)
{
    constexpr std::size_t max_length = 40;
    auto const in_words = [](char c) {
        bool const is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return is_letter || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == ' ';
    };
    return key.size() <= max_length && std::all_of(key.begin(), key.end(), in_words) ? key : "...";
}

// Follows the parser's events, so that an error text can say where in the document the error is: `nodes[1].port`.
class json_place {
public:
    using event = nlohmann::json::parse_event_t;

    void on(event what, nlohmann::json const& parsed)
    {
        switch (what) {
        case event::object_start: open_.push_back({.is_object = true}); break;
        case event::array_start: open_.push_back({.is_object = false}); break;
        case event::key: on_key(parsed.get_ref<std::string const&>()); break;
        case event::object_end:
        case event::array_end: open_.pop_back(); [[fallthrough]];
        case event::value:
            if (!open_.empty()) ++open_.back().elements;
            break;
        }
    }

    std::string text() const
    {
        std::string result;
        for (level const& l : open_) {
            if (!l.is_object) result += '[' + std::to_string(l.elements) + ']';
            else if (!l.key.empty()) result += (result.empty() ? "" : ".") + key_in_words(l.key);
        }
        return result.empty() ? "the document" : result;
    }

private:
    struct level {
        bool is_object;
        std::size_t elements{0};
        std::string key{};
        std::set<std::string> keys{};
    };

    void on_key(std::string const& key)
    {
        open_.back().key = key;
        if (!open_.back().keys.insert(key).second) throw config_error{text() + ": this key appears twice"};
    }

    std::vector<level> open_;
};

// Throws an error with line and column. `byte`: the position of the last byte that the parser has read, counted from 1. The parser's own
// error text is not used, since it repeats part of the document, which can be a password.
[[noreturn]] inline void refuse_malformed(std::string_view text, std::size_t byte)
{
    std::string_view const before = text.substr(0, byte == 0 ? 0 : byte - 1);
    auto const line = 1 + std::count(before.begin(), before.end(), '\n');
    std::string_view const in_line = before.substr(before.rfind('\n') + 1);  // npos + 1 == 0
    auto const is_first_byte = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    auto const column = 1 + std::count_if(in_line.begin(), in_line.end(), is_first_byte);

    std::string what = "line " + std::to_string(line) + ", column " + std::to_string(column) + ": malformed JSON";
    if (before.size() >= text.size()) {
        what += ": the text ends too early";
    } else if (char const c = text[before.size()]; std::string_view{"{}[],:"}.find(c) != std::string_view::npos) {
        what += std::string{" at '"} + c + '\'';
    }
    throw config_error{what};
}

inline nlohmann::json parse_strictly(std::string_view text)
{
    json_place place;
    auto const follow = [&place](int, json_place::event what, nlohmann::json& parsed) {
        place.on(what, parsed);
        return true;
    };
    try {
        return nlohmann::json::parse(text, follow, true, true);
    } catch (nlohmann::json::parse_error const& error) {
        refuse_malformed(text, error.byte);
    } catch (nlohmann::json::out_of_range const&) {
        throw config_error{place.text() + ": the number is too large"};
    }
}

}  // namespace redlock

#endif
