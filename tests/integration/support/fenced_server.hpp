// A real server that takes part in the token protocol, and its scripts as one-liners.
#ifndef REDLOCK_TESTS_INTEGRATION_FENCED_SERVER_HPP
#define REDLOCK_TESTS_INTEGRATION_FENCED_SERVER_HPP

#include "protocol/admission_scripts.hpp"
#include "protocol/fence_answers.hpp"
#include "protocol/fence_scripts.hpp"
#include "protocol/server_id.hpp"
#include "support/redis_server.hpp"
#include "support/replication_info.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <map>
#include <regex>
#include <string>
#include <vector>

namespace redlock::testing {

using words = std::vector<std::string>;

inline constexpr std::int64_t start = std::int64_t{1} << 41;  // above what Lua's tostring writes in full
inline constexpr std::int64_t second_us = 1'000'000;
inline constexpr std::int64_t day_us = 86'400 * second_us;
inline std::string const never_id(40, '0');
inline std::string const other_id(40, 'e');

inline void append(words& to, words const& more) { to.insert(to.end(), more.begin(), more.end()); }

// A server that was admitted with base `start` and maxttl 30 s, and shorthands for the scripts. Answers as text: "1 2199...".
struct fenced_server {
    redis_server server;
    std::string id;

    explicit fenced_server(redis_server_options options) : server{std::move(options)}
    {
        load();
        learn();
        BOOST_REQUIRE_EQUAL(mark("m1"), "1 m1");
        BOOST_REQUIRE_EQUAL(admit(start, 30'000, "m1"), "1");
    }
    fenced_server() : fenced_server{redis_server_options{}} {}

    void load() const
    {
        for (auto const* s :
             {&detail::fence_acquire_script(), &detail::fence_confirm_script(), &detail::fence_extend_script(),
              &detail::fence_climb_script(), &detail::fence_acquire_several_script(), &detail::fence_confirm_several_script(),
              &detail::inspect_script(), &detail::mark_script(), &detail::admit_script(), &detail::release_script(),
              &detail::acquire_several_script(), &detail::release_several_script()})
            BOOST_REQUIRE_EQUAL(server.command({"SCRIPT", "LOAD", std::string{s->text}}), s->sha1);
    }
    replication_info look() const { return replication_info{server.command({"INFO", "replication"})}; }
    void learn() { id = look().id; }

    std::string call(detail::script const& s, words const& keys, words const& arguments) const
    {
        words command{"EVALSHA", s.sha1, std::to_string(keys.size())};
        append(command, keys);
        append(command, arguments);
        auto const answer = server.ask(command);
        if (answer.type != resp_reply::kind::array) return answer.text;
        std::string line;
        for (auto const& item : answer.items) line += (line.empty() ? "" : " ") + item;
        return line;
    }

    static words keys(std::string const& name) { return {name, name + ":fence", "redlock:node", "redlock:hw"}; }

    std::string acquire(std::string const& value, std::int64_t floor = 0, std::int64_t block = 1, std::int64_t ttl = 20'000,
                        std::int64_t retention = 60'000) const
    {
        return call(detail::fence_acquire_script(), keys_of({"r"}),
                    {id, std::to_string(ttl), std::to_string(block), std::to_string(retention), value, std::to_string(floor)});
    }
    std::string confirm(std::string const& value, std::int64_t token) const
    {
        return call(detail::fence_confirm_script(), keys("r"), {id, value, std::to_string(token), "60000"});
    }
    std::string extend(std::string const& value, std::int64_t token, bool recreate, bool refresh = true, std::int64_t ttl = 25'000) const
    {
        return call(detail::fence_extend_script(), {"redlock:node", "redlock:hw", "r", "r:fence"},
                    {id, "60000", recreate ? "1" : "0", refresh ? "1" : "0", value, std::to_string(token), std::to_string(ttl)});
    }
    // What an extension answers where the lease needs such a guard.
    static std::string needs(std::int64_t guard) { return std::to_string(detail::fence_needs_guard - guard); }

    std::string climb(std::string const& value, std::int64_t guard, std::int64_t to, std::int64_t ttl = 25'000) const
    {
        return call(detail::fence_climb_script(), keys_of({"r"}),
                    {id, "60000", value, std::to_string(guard), std::to_string(to), std::to_string(ttl)});
    }
    static std::string marked(std::int64_t counter) { return std::to_string(counter) + ".0"; }

    // A lock of several keys.
    static words keys_of(words const& names)
    {
        words all{"redlock:node", "redlock:hw"};
        for (auto const& name : names) append(all, {name, name + ":fence"});
        return all;
    }
    std::string acquire_all(words const& names, std::string const& value, std::int64_t floor = 0, std::int64_t block = 1,
                            std::int64_t ttl = 20'000) const
    {
        return call(detail::fence_acquire_several_script(), keys_of(names),
                    {id, value, std::to_string(ttl), std::to_string(floor), std::to_string(block), "60000"});
    }
    std::string confirm_all(words const& names, std::string const& value, std::int64_t token) const
    {
        return call(detail::fence_confirm_several_script(), keys_of(names), {id, value, std::to_string(token), "60000"});
    }

    // Marks end with the server's time, which is left out here and put back where it is needed.
    static std::string without_time(std::string const& text) { return std::regex_replace(text, std::regex{"-[0-9]+-[0-9]+$"}, ""); }

    std::string mark(std::string const& fresh) const
    {
        auto const answer = call(detail::mark_script(), {"redlock:node", "redlock:hw"}, {id, fresh});
        auto const whole = answer.substr(answer.find(' ') + 1);
        marks_[without_time(whole)] = whole;
        return without_time(answer);
    }
    std::string admit(std::int64_t base, std::int64_t maxttl, std::string const& left) const
    {
        auto const known = marks_.find(left);
        return call(detail::admit_script(), {"redlock:node", "redlock:hw"},
                    {id, std::to_string(base), std::to_string(maxttl), known == marks_.end() ? left : known->second});
    }

    std::string get(std::string const& key) const { return server.command({"GET", key}); }
    std::int64_t counter() const { return std::stoll(get("r:fence")); }
    std::int64_t high_water() const { return std::stoll(get("redlock:hw")); }
    std::int64_t ttl(std::string const& key) const { return std::stoll(server.command({"PTTL", key})); }
    void run(words const& command) const { server.command(command); }
    std::int64_t now_us() const { return std::stoll(server.command({"TIME"})) * second_us; }
    std::string record() const { return without_time(get("redlock:node")); }

private:
    mutable std::map<std::string, std::string> marks_;
};

inline std::string granted(std::int64_t counter) { return "1 " + std::to_string(counter); }
inline std::string padded(std::int64_t number, std::size_t width)
{
    auto const digits = std::to_string(number);
    return std::string(width - digits.size(), '0') + digits;
}

}  // namespace redlock::testing

#endif
