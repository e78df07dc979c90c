#include "server.hpp"

#include "link.hpp"
#include "universe.hpp"

#include <utility>

namespace redlock::simulation {

using detail::reply;
using detail::verb;

namespace {

reply error_reply(char const* text) { return {vote::failed, errc::server_error, text}; }

}  // namespace

char const* to_string(complaint c) noexcept
{
    switch (c) {
    case complaint::none: return "no complaint";
    case complaint::loading: return "LOADING";
    case complaint::read_only: return "READONLY";
    case complaint::misconf: return "MISCONF";
    case complaint::oom: return "OOM";
    }
    return "?";
}

time_point server::time() const noexcept { return wall.at(universe_.now()); }

reply server::execute(detail::command const& c, bool of_nobody)
{
    // What the server refuses to delete stays until it expires.
    if (complains != complaint::none && complains != complaint::oom && c.what == verb::release)
        if (auto* const kept = memory.find(c.key, time()); kept && kept->value == c.value) kept->of_nobody = true;
    switch (complains) {
    case complaint::none: break;
    case complaint::loading: return error_reply("LOADING Redis is loading the dataset in memory");
    case complaint::read_only: return error_reply("READONLY You can't write against a read only replica.");
    case complaint::misconf: return error_reply("MISCONF Redis is configured to save RDB snapshots, but it's unable to persist to disk");
    case complaint::oom:
        if (c.what == verb::acquire) return error_reply("OOM command not allowed when used memory > 'maxmemory'.");
        break;
    }
    auto const* const before = memory.find(c.key, time());
    bool const others = before && before->value != c.value;
    auto const expires = before ? before->expires : std::nullopt;
    auto answer = memory.execute(c, time());
    if (others) {
        auto const* const after = memory.find(c.key, time());
        if ((!after || after->expires != expires || after->value == c.value) && universe_.on_violation)
            universe_.on_violation("a request changed a key with somebody else's value");
    }
    if (of_nobody && c.what == verb::acquire && answer.vote == vote::granted) memory.find(c.key, time())->of_nobody = true;
    return answer;
}

void server::when_it_runs(event f)
{
    if (!up_) return;  // nobody listens
    if (stopped_) return inbox_.push_back(std::move(f));
    f();
}

void server::go_on()
{
    if (!std::exchange(stopped_, false)) return;
    for (auto& f : std::exchange(inbox_, {})) f();
    for (auto const& l : universe_.links())
        if (&l->to() == this) l->try_again();
}

void server::crash(bool forgets)
{
    if (!std::exchange(up_, false)) return;
    inbox_.clear();
    knows_scripts_ = false;
    if (forgets) memory.flush_all();
    for (auto const& l : universe_.links())
        if (&l->to() == this) l->cut();
}

void server::start()
{
    if (std::exchange(up_, true)) return;
    complains = complaint::none;
    for (auto const& l : universe_.links())
        if (&l->to() == this) l->try_again();
}

}  // namespace redlock::simulation
