#include "protocol/redis_request.hpp"

#include "protocol/admission_scripts.hpp"
#include "protocol/fence_scripts.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/shared_scripts.hpp"
#include "protocol/state_scripts.hpp"

#include <algorithm>
#include <cstdint>
#include <span>

namespace redlock::detail {

boost::redis::request::config one_connection_only() noexcept
{
    // Every flag is set here because their defaults differ between releases of Boost, and where it is there: 1.92 calls the last three deprecated.
    auto const set = [](auto& c) {
        c.cancel_if_unresponded = true;
        if constexpr (requires { c.cancel_on_connection_lost; }) c.cancel_on_connection_lost = true;
        if constexpr (requires { c.cancel_if_not_connected; }) c.cancel_if_not_connected = false;
        if constexpr (requires { c.hello_with_priority; }) c.hello_with_priority = false;
    };
    boost::redis::request::config c{};
    set(c);
    return c;
}

std::vector<script const*> scripts_of_nodes()
{
    return {&extend_script(),
            &release_script(),
            &release_many_script(),
            &acquire_several_script(),
            &release_several_script(),
            &fence_acquire_script(),
            &fence_confirm_script(),
            &fence_acquire_several_script(),
            &fence_confirm_several_script(),
            &fence_extend_script(),
            &fence_climb_script(),
            &adopt_script(),
            &fence_adopt_script(),
            &inspect_script(),
            &claim_script(),
            &mark_script(),
            &admit_script(),
            &shared_acquire_script(),
            &shared_confirm_script(),
            &shared_extend_script(),
            &shared_release_script(),
            &shared_want_script(),
            &state_publish_script(),
            &state_inherit_script(),
            &state_peek_script(),
            &semaphore_acquire_script(),
            &semaphore_extend_script(),
            &semaphore_keep_script(),
            &semaphore_inspect_script()};
}

namespace {

bool same_call(command const& a, command const& b) noexcept
{
    if (a.what != b.what || a.shared != b.shared || a.is_of_permits() || b.is_of_permits()) return false;
    if (a.what == verb::release) return a.others.empty() && b.others.empty();
    if (a.what == verb::acquire)
        return a.fenced && b.fenced && a.others.empty() && b.others.empty() && a.ttl == b.ttl && a.block == b.block &&
               a.retention == b.retention;
    return (a.what == verb::extend || a.what == verb::climb) && a.fenced == b.fenced && a.retention == b.retention;
}

// How many commands, from `first` on, share one call.
std::size_t run_of_same(std::vector<command> const& commands, std::size_t first)
{
    std::size_t keys = commands[first].key_count();
    std::size_t i = first + 1;
    while (i < commands.size() && same_call(commands[first], commands[i]) && (keys += commands[i].key_count()) <= keys_per_call) ++i;
    return i - first;
}

std::unique_ptr<std::uint32_t[]> key_counts(std::span<command const> commands)
{
    if (keys_of(commands) == commands.size()) return nullptr;
    auto counts = std::make_unique<std::uint32_t[]>(commands.size());
    std::ranges::transform(commands, counts.get(), [](command const& c) { return static_cast<std::uint32_t>(c.key_count()); });
    return counts;
}

}  // namespace

void redis_request::encode(batch const& work, std::string_view id, request_extras extras)
{
    auto const& commands = work.commands;
    extras_ = extras;
    id_ = id;
    ids_.clear();
    words_.put_before_keys(extras.prefix);
    request.clear();
    calls.clear();
    calls.reserve(commands.size() + 2);
    if (extras.load_scripts) {
        for (script const* s : scripts_of_nodes()) {
            request.push("SCRIPT", "LOAD", s->text);
            calls.push_back({wire_call::kind::load_script});
        }
    }
    for (std::size_t i = 0; i < commands.size();) {
        command const& c = commands[i];
        if (c.what == verb::watch) {
            push_watch(c, i++);
            continue;
        }
        std::size_t const count = extras.apart ? 1 : run_of_same(commands, i);
        std::span const shared{&c, count};
        push_call(request, {words_, ids_}, set_options_, shared, id);
        calls.push_back({.is = wire_call::kind::commands,
                         .what = c.what,
                         .fenced = c.fenced,
                         .shared = c.shared,
                         .of_slots = c.is_of_permits(),
                         .first = static_cast<std::uint32_t>(i),
                         .count = static_cast<std::uint32_t>(count)});
        if (c.what == verb::extend || c.what == verb::climb) calls.back().key_counts = key_counts(shared);
        i += count;
    }
    if (extras.time) {
        request.push("TIME");
        calls.push_back({wire_call::kind::time});
    }
    if (extras.identity) {
        request.push("INFO", "replication");
        calls.push_back({wire_call::kind::identity});
    }
}

bool redis_request::copy_bytes(redis_request const& from, std::string_view id)
{
    if (id.size() != from.id_.size()) return false;
    request = from.request;
    // payload() returns a const reference, but the request owns the string, and is not const itself.
    char* const bytes = const_cast<char*>(request.payload().data());
    for (std::size_t const at : from.ids_) std::copy(id.begin(), id.end(), bytes + at);
    return true;
}

// If the server refuses to track keys (see handshake.cpp), it answers CLIENT CACHING with an error, but PTTL as usual.
void redis_request::push_watch(command const& c, std::size_t index)
{
    auto const watch = [&](std::string_view key, bool goes_on) {
        request.push("CLIENT", "CACHING", "YES");
        calls.push_back({wire_call::kind::arm});
        if (extras_.prefix.empty()) request.push("PTTL", key);
        else request.push("PTTL", std::string{extras_.prefix}.append(key));
        calls.push_back({.is = wire_call::kind::commands,
                         .what = verb::watch,
                         .of_slots = c.any,
                         .goes_on = goes_on,
                         .first = static_cast<std::uint32_t>(index),
                         .count = 1});
    };
    watch(c.key, false);
    for (std::string const& key : c.others) watch(key, true);
}

}  // namespace redlock::detail
