#include "protocol/server_kind.hpp"

#include "protocol/server_facts.hpp"
#include "protocol/server_words.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace redlock::detail {

namespace {

constexpr std::string_view version_end = "_version";
constexpr std::size_t max_name = 60;

constexpr std::array own_versions{std::string_view{"redis"}, std::string_view{"valkey"}};
constexpr std::array compilers{std::string_view{"gcc"}, std::string_view{"clang"}};

template <std::size_t N>
bool is_one_of(std::array<std::string_view, N> const& names, std::string_view name)
{
    return std::find(names.begin(), names.end(), name) != names.end();
}

// A name and a version as people read them. Both come from the server, so they are cut to a length.
std::string program(std::string_view name, std::string_view version)
{
    std::string text = words_of_server(name.substr(0, max_name));
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 'a' + 'A');
    if (!version.empty()) text.append(1, ' ').append(words_of_server(version.substr(0, max_name)));
    return text;
}

// "dragonfly" from "dragonfly_version". Empty: the field names no version, or that of Redis, Valkey or a compiler.
std::string_view foreign_name(std::string_view field)
{
    if (!field.ends_with(version_end)) return {};
    auto const name = field.substr(0, field.size() - version_end.size());
    return is_one_of(own_versions, name) || is_one_of(compilers, name) ? std::string_view{} : name;
}

// The name and version of another program in section Server of INFO. Modules may add sections behind it that contain versions, too: they are skipped.
std::string foreign_version(std::string_view text)
{
    while (!text.empty()) {
        auto const line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.starts_with("# ") && !line.starts_with("# Server")) break;
        auto const colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        auto const value = line.substr(colon + 1);
        if (auto const name = foreign_name(line.substr(0, colon)); !name.empty()) return program(name, value.substr(0, value.find('\r')));
    }
    return {};
}

}  // namespace

void server_kind::read_hello(std::string_view key, std::string_view value)
{
    if (key == "server" && !is_one_of(own_versions, value)) foreign_ = program(value, {});
    if (auto const name = foreign_name(key); !name.empty()) foreign_ = program(name, value);
}

void server_kind::read_info(std::string_view text)
{
    auto const name = field_of_info(text, "server_name");
    if (auto found = foreign_version(text); !found.empty()) {
        foreign_ = std::move(found);
    } else if (!name.empty() && !is_one_of(own_versions, name)) {
        foreign_ = program(name, {});
    } else if (name.empty() && !field_of_info(text, "features").empty()) {  // nothing else in INFO server tells KeyDB from Redis 6
        foreign_ = program("KeyDB", field_of_info(text, "redis_version"));
    } else if (foreign_.empty() && field_of_info(text, "redis_version").empty() && field_of_info(text, "valkey_version").empty()) {
        foreign_ = "a server that does not say which program it is";
    }
}

std::string no_tokens_on(std::string const& foreign)
{
    return "it is " + foreign +
           ", and only of Redis and Valkey it is known that they take another id (master_replid) with each loss of "
           "data, so it might vote on what it has lost: use Redis or Valkey, or locks without fencing; if you know that "
           "its id changes, set config::trust_server_identity; waiting does not help";
}

}  // namespace redlock::detail
