#include "redis/request_bytes.hpp"

#include <algorithm>
#include <deque>
#include <utility>

namespace redlock::detail {

namespace {

// A word of no bytes. Boost.Redis hands the string of the request to the conversion of each word.
struct word_that_looks {
    std::string** seen;

    friend void boost_redis_to_bulk(std::string& to, word_that_looks const& w) { *w.seen = &to; }
};

// A request without bytes that has counted so many commands. A request counts what is pushed, and nothing else.
boost::redis::request const& counted(std::size_t commands)
{
    thread_local std::deque<boost::redis::request> all(1);
    while (all.size() <= commands) {
        auto& next = all.emplace_back(all.back());
        std::string* bytes = nullptr;
        next.push("TIME", word_that_looks{&bytes});
        bytes->clear();
    }
    return all[commands];
}

}  // namespace

std::string& bytes_of(boost::redis::request& what)
{
    std::string* bytes = nullptr;
    what.push("TIME", word_that_looks{&bytes});
    what.clear();
    return *bytes;
}

void set_command_count(boost::redis::request& what, std::string& bytes, std::size_t commands)
{
    constexpr std::size_t most_kept = 1'024;
    if (what.get_commands() == commands) return;
    auto const config = what.get_config();
    auto kept = std::move(bytes);
    what = counted(std::min(commands, most_kept));
    while (what.get_commands() < commands) what.push("TIME");
    what.get_config() = config;
    bytes = std::move(kept);
}

}  // namespace redlock::detail
