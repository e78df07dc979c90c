#include "node/redis_request.hpp"

#include "node/fence_scripts.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace redlock::detail {

boost::redis::request::config one_connection_only() noexcept
{
    // Every flag is set here because their defaults differ between releases of Boost.
    boost::redis::request::config c{};
    c.cancel_on_connection_lost = true;
    c.cancel_if_not_connected = false;
    c.cancel_if_unresponded = true;
    c.hello_with_priority = false;
    return c;
}

std::vector<script const*> scripts_of_nodes()
{
    return {&extend_script(),
            &release_script(),
            &acquire_several_script(),
            &release_several_script(),
            &fence_acquire_script(),
            &fence_confirm_script(),
            &fence_acquire_several_script(),
            &fence_confirm_several_script(),
            &fence_extend_script(),
            &inspect_script(),
            &mark_script(),
            &admit_script()};
}

namespace {

std::string fence_key(std::string_view name) { return std::string{name}.append(fence_suffix); }

bool same_call(command const& a, command const& b) noexcept
{
    return b.what == verb::extend && a.fenced == b.fenced && a.retention == b.retention;
}

std::size_t run_of_extensions(std::vector<command> const& commands, std::size_t first)
{
    std::size_t keys = commands[first].key_count();
    std::size_t i = first + 1;
    while (i < commands.size() && same_call(commands[first], commands[i]) && (keys += commands[i].key_count()) <= extensions_per_call) ++i;
    return i - first;
}

std::size_t keys_of(command const* first, std::size_t count) noexcept
{
    std::size_t keys = 0;
    for (std::size_t i = 0; i < count; ++i) keys += first[i].key_count();
    return keys;
}

std::vector<std::size_t> key_counts(command const* first, std::size_t count)
{
    if (keys_of(first, count) == count) return {};
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < count; ++i) counts.push_back(first[i].key_count());
    return counts;
}

// Builds one EVALSHA.
class script_call {
public:
    script_call(script const& s, std::size_t keys) : words_{s.sha1, std::to_string(keys)} {}

    script_call& operator<<(std::string_view word)
    {
        words_.emplace_back(word);
        return *this;
    }
    script_call& operator<<(std::uint64_t number) { return *this << std::string_view{std::to_string(number)}; }
    script_call& operator<<(std::chrono::milliseconds d) { return *this << static_cast<std::uint64_t>(d.count()); }

    void push_to(boost::redis::request& request) const { request.push_range("EVALSHA", words_); }

private:
    std::vector<std::string> words_;
};

script_call& add_keys(script_call& call, command const& c)
{
    for (std::size_t k = 0; k < c.key_count(); ++k) call << c.key_at(k);
    return call;
}

script_call& add_locks_and_fences(script_call& call, command const& c)
{
    for (std::size_t k = 0; k < c.key_count(); ++k) call << c.key_at(k) << fence_key(c.key_at(k));
    return call;
}

script_call extensions(command const* first, std::size_t count)
{
    script_call call{extend_script(), keys_of(first, count)};
    for (std::size_t i = 0; i < count; ++i) add_keys(call, first[i]);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k) call << first[i].value << first[i].ttl;
    return call;
}

script_call extensions_with_tokens(command const* first, std::size_t count, std::string_view id)
{
    bool const refresh = std::any_of(first, first + count, [](command const& c) { return c.refresh; });
    script_call call{fence_extend_script(), 2 + 2 * keys_of(first, count)};
    call << node_record_key << high_water_key;
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(call, first[i]);
    call << id << first->retention << "1" << (refresh ? "1" : "0");
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k) call << first[i].value << first[i].token << first[i].ttl;
    return call;
}

script_call without_tokens(command const& c)
{
    script_call call{c.what == verb::acquire ? acquire_several_script() : release_several_script(), c.key_count()};
    add_keys(call, c) << c.value;
    if (c.what == verb::acquire) call << c.ttl;
    return call;
}

script_call with_keys_of(command const& c)
{
    bool const acquires = c.what == verb::acquire;
    if (c.others.empty()) {
        script_call call{acquires ? fence_acquire_script() : fence_confirm_script(), 4};
        call << c.key << fence_key(c.key) << node_record_key << high_water_key;
        return call;
    }
    script_call call{acquires ? fence_acquire_several_script() : fence_confirm_several_script(), 2 + 2 * c.key_count()};
    call << node_record_key << high_water_key;
    add_locks_and_fences(call, c);
    return call;
}

script_call with_tokens(command const& c, std::string_view id)
{
    script_call call = with_keys_of(c);
    call << id << c.value;
    if (c.what == verb::acquire) {
        call << c.ttl << c.token << std::uint64_t{c.block} << c.retention;
    } else {
        call << c.token << c.retention;
    }
    return call;
}

script_call of_admission(command const& c)
{
    if (c.what == verb::inspect) return std::move(script_call{inspect_script(), 2} << node_record_key << high_water_key);
    script_call call{c.what == verb::mark ? mark_script() : admit_script(), 2};
    call << node_record_key << high_water_key << c.id;
    if (c.what == verb::mark) {
        call << c.value;
    } else {
        call << c.token << c.ttl << c.value;
    }
    return call;
}

void push(boost::redis::request& request, command const* first, std::size_t count, std::string_view id)
{
    command const& c = *first;
    switch (c.what) {
    case verb::acquire:
        if (c.fenced) return with_tokens(c, id).push_to(request);
        if (!c.others.empty()) return without_tokens(c).push_to(request);
        return request.push("SET", c.key, c.value, "NX", "PX", std::to_string(c.ttl.count()));
    case verb::confirm: return with_tokens(c, id).push_to(request);
    case verb::extend: return (c.fenced ? extensions_with_tokens(first, count, id) : extensions(first, count)).push_to(request);
    case verb::release:
        if (!c.others.empty()) return without_tokens(c).push_to(request);
        return request.push("EVALSHA", release_script().sha1, "1", c.key, c.value);
    case verb::watch: return;  // has calls of its own: push_watch
    case verb::inspect:
    case verb::mark:
    case verb::admit: return of_admission(c).push_to(request);
    }
}

}  // namespace

redis_request::redis_request(batch const& work, std::string_view id, request_extras more) : request{one_connection_only()}
{
    auto const& commands = work.commands;
    calls.reserve(commands.size() + 2);
    if (more.load_scripts) {
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
        std::size_t const count = c.what == verb::extend ? run_of_extensions(commands, i) : 1;
        push(request, &c, count, id);
        calls.push_back({wire_call::kind::commands, c.what, c.fenced, i, count, false, {}});
        if (c.what == verb::extend) calls.back().key_counts = key_counts(&c, count);
        i += count;
    }
    if (more.time) {
        request.push("TIME");
        calls.push_back({wire_call::kind::time});
    }
    if (more.identity) {
        request.push("INFO", "replication");
        calls.push_back({wire_call::kind::identity});
    }
}

// A server that may not track (see handshake.cpp) answers CLIENT CACHING with an error, and PTTL as ever.
void redis_request::push_watch(command const& c, std::size_t index)
{
    auto const watch = [&](std::string_view key, bool goes_on) {
        request.push("CLIENT", "CACHING", "YES");
        calls.push_back({wire_call::kind::arm});
        request.push("PTTL", key);
        calls.push_back({wire_call::kind::commands, verb::watch, false, index, 1, goes_on, {}});
    };
    watch(c.key, false);
    for (std::string const& key : c.others) watch(key, true);
}

}  // namespace redlock::detail
