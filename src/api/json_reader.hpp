// Reads the keys of one JSON object into members of a given type. Every error names the place in the document. Only for json.cpp.
#ifndef REDLOCK_API_JSON_READER_HPP
#define REDLOCK_API_JSON_READER_HPP

#include "api/json_text.hpp"

#include <redlock/config.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

// Describes a value for an error text: scalars by their value, but only by their type if they can be a secret.
inline std::string describe(nlohmann::json const& value, bool secret)
{
    constexpr std::size_t max_length = 40;
    using type = nlohmann::json::value_t;
    if (value.is_array()) return "a list";
    if (value.is_object()) return "an object";
    if (secret && value.is_string()) return "a string";
    if (secret && value.is_number()) return "a number";
    if (secret || value.type() == type::binary || value.type() == type::discarded) return "something else";
    std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    if (text.size() > max_length) text = text.substr(0, max_length) + "...";
    return text;
}

// The Levenshtein distance of two words: how many letters must be inserted, removed or replaced to turn one into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < b.size(); ++j) {
            std::size_t const replaced = diagonal + (a[i] == b[j] ? 0 : 1);
            diagonal = std::exchange(row[j + 1], std::min({replaced, row[j] + 1, row[j + 1] + 1}));
        }
    }
    return row.back();
}

// How far a word that the user wrote is from a word that the user may have meant. A word that the other begins with is near, however long
// the rest.
inline std::size_t distance_from_meant(std::string_view written, std::string_view meant)
{
    return meant.starts_with(written) ? 1 : edit_distance(written, meant);
}

class object_reader {
public:
    enum class content { plain, secret };

    // `place`: empty for the document itself.
    object_reader(nlohmann::json const& object, std::string place, content what = content::plain)
        : object_{object}, place_{std::move(place)}, secret_{what == content::secret}
    {
        if (!object_.is_object())
            throw config_error{(place_.empty() ? "the document" : place_) + ": expected an object, found " + describe(object_, secret_)};
    }

    // The read functions set `member` to the value of the key, or leave it alone if the object does not have the key. A value of another
    // type throws config_error.

    void read(char const* key, bool& member)
    {
        if (auto const* value = find(key)) {
            if (!value->is_boolean()) refuse(key, "true or false", *value);
            member = value->get<bool>();
        }
    }

    void read(char const* key, double& member)
    {
        if (auto const* value = find(key)) {
            if (!value->is_number()) refuse(key, "a number", *value);
            member = value->get<double>();
        }
    }

    void read(char const* key, std::string& member)
    {
        if (auto const* value = find(key)) {
            if (!value->is_string()) refuse(key, "a string", *value);
            member = value->get<std::string>();
        }
    }

    void read(char const* key, std::chrono::milliseconds& member)
    {
        if (auto const* value = find(key)) {
            auto const number = whole_number(*value, std::numeric_limits<std::int64_t>::max());
            if (!number) refuse(key, "a whole number of milliseconds", *value);
            member = std::chrono::milliseconds{static_cast<std::int64_t>(*number)};
        }
    }

    void read(char const* key, std::optional<std::chrono::milliseconds>& member)
    {
        if (std::chrono::milliseconds present{}; object_.contains(key)) {
            read(key, present);
            member = present;
        } else {
            known_.emplace_back(key);
        }
    }

    template <class Unsigned>
    void read_whole(char const* key, Unsigned& member, Unsigned min = 0, Unsigned max = std::numeric_limits<Unsigned>::max())
    {
        if (auto const* value = find(key)) {
            auto const number = whole_number(*value, max);
            if (!number || *number < min)
                refuse(key, "a whole number between " + std::to_string(min) + " and " + std::to_string(max), *value);
            member = static_cast<Unsigned>(*number);
        }
    }

    // The value of a key, and a note that the key is known; null if the object does not have the key.
    nlohmann::json const* find(char const* key)
    {
        known_.emplace_back(key);
        auto const found = object_.find(key);
        return found == object_.end() ? nullptr : &*found;
    }

    std::string place_of(std::string_view key) const { return place_.empty() ? std::string{key} : place_ + '.' + std::string{key}; }

    [[noreturn]] void refuse(char const* key, std::string const& expected, nlohmann::json const& found) const
    {
        throw config_error{place_of(key) + ": expected " + expected + ", found " + describe(found, secret_)};
    }

    // Call this last: throws if the object has a key that no read() or find() asked for.
    void refuse_unknown_keys() const
    {
        for (auto const& item : object_.items()) {
            std::string const& key = item.key();
            if (std::find(known_.begin(), known_.end(), key) != known_.end()) continue;
            auto const nearest = std::min_element(known_.begin(), known_.end(), [&key](auto const& a, auto const& b) {
                return distance_from_meant(key, a) < distance_from_meant(key, b);
            });
            throw config_error{(place_.empty() ? "" : place_ + ": ") + "unknown key \"" + key_in_words(key) +
                               "\"; the nearest known one is \"" + *nearest + '"'};
        }
    }

private:
    static std::optional<std::uint64_t> whole_number(nlohmann::json const& value, std::uint64_t max)
    {
        bool const negative = value.is_number_integer() && !value.is_number_unsigned() && value.get<std::int64_t>() < 0;
        if (!value.is_number_integer() || negative) return std::nullopt;
        auto const number = value.get<std::uint64_t>();
        return number <= max ? std::optional{number} : std::nullopt;
    }

    nlohmann::json const& object_;
    std::string place_;
    bool secret_;
    std::vector<std::string> known_;
};

}  // namespace redlock

#endif
