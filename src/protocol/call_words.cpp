#include "protocol/call_words.hpp"

#include "protocol/admission_scripts.hpp"
#include "protocol/fence_scripts.hpp"
#include "protocol/keys.hpp"
#include "protocol/scripts.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/shared_scripts.hpp"
#include "protocol/state_scripts.hpp"

#include <algorithm>
#include <cstdint>

namespace redlock::detail {

std::string_view set_options::of(std::chrono::milliseconds ttl)
{
    if (ttl != ttl_) {
        std::string const digits = std::to_string(ttl.count());
        encoded_ = "$2\r\nNX\r\n$2\r\nPX\r\n$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
        ttl_ = ttl;
    }
    return encoded_;
}

std::size_t keys_of(std::span<command const> commands) noexcept
{
    std::size_t keys = 0;
    for (command const& c : commands) keys += c.key_count();
    return keys;
}

resp_writer& call(resp_writer& words, script const& s, std::size_t keys) { return words << s.sha1 << std::uint64_t{keys}; }

resp_writer& add_value(resp_writer& words, command const& c)
{
    return c.value_bytes ? words.add(*c.value_bytes, c.value) : words << c.value;
}

void add_keys(resp_writer& words, command const& c)
{
    for (std::size_t k = 0; k < c.key_count(); ++k) words.key(c.key_at(k));
}

void add_locks_and_fences(resp_writer& words, command const& c)
{
    for (std::size_t k = 0; k < c.key_count(); ++k) words.key(c.key_at(k)).key(c.key_at(k), fence_suffix);
}

namespace {

void extensions(resp_writer& words, command const* first, std::size_t count)
{
    call(words, extend_script(), keys_of({first, count}));
    for (std::size_t i = 0; i < count; ++i) add_keys(words, first[i]);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k) add_value(words, first[i]) << first[i].ttl;
}

// Of readers, each also says whether it was a writer.
void extensions_with_tokens(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    bool const refresh = std::any_of(first, first + count, [](command const& c) { return c.refresh; });
    script const& s = first->shared ? shared_extend_script() : fence_extend_script();
    call(words, s, 2 + 2 * keys_of({first, count})).key(node_record_key).key(high_water_key);
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->retention << "1" << (refresh ? "1" : "0");
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < first[i].key_count(); ++k) add_value(words, first[i]) << first[i].token << first[i].ttl;
        if (first[i].shared) words << (first[i].was_writer ? "1" : "0");
    }
}

void climbs(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, fence_climb_script(), 2 + 2 * keys_of({first, count})).key(node_record_key).key(high_water_key);
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->retention;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k)
            add_value(words, first[i]) << first[i].token << first[i].more().goal << first[i].ttl;
}

void releases_without_tokens(resp_writer& words, command const* first, std::size_t count)
{
    call(words, first->shared ? shared_release_script() : count == 1 ? release_script() : release_many_script(), count);
    for (std::size_t i = 0; i < count; ++i) words.key(first[i].key);
    for (std::size_t i = 0; i < count; ++i) add_value(words, first[i]);
}

void several_without_tokens(resp_writer& words, command const& c)
{
    call(words, c.what == verb::acquire ? acquire_several_script() : release_several_script(), c.key_count());
    add_keys(words, c);
    add_value(words, c);
    if (c.what == verb::acquire) words << c.ttl;
}

void acquires_with_tokens(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, fence_acquire_script(), 2 + 2 * count).key(node_record_key).key(high_water_key);
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->ttl << std::uint64_t{first->block} << first->retention;
    for (std::size_t i = 0; i < count; ++i) add_value(words, first[i]) << first[i].token;
}

void acquire_of_several_with_tokens(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, fence_acquire_several_script(), 2 + 2 * c.key_count()).key(node_record_key).key(high_water_key);
    add_locks_and_fences(words, c);
    to.add_id(id);
    add_value(words, c) << c.ttl << c.token << std::uint64_t{c.block} << c.retention;
}

void confirm_with_tokens(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    if (c.others.empty()) {
        call(words, c.shared ? shared_confirm_script() : fence_confirm_script(), 4);
        add_locks_and_fences(words, c);
        words.key(node_record_key).key(high_water_key);
    } else {
        call(words, fence_confirm_several_script(), 2 + 2 * c.key_count()).key(node_record_key).key(high_water_key);
        add_locks_and_fences(words, c);
    }
    to.add_id(id);
    add_value(words, c) << c.token << c.retention;
}

void adopt(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    if (!c.fenced) {
        call(words, adopt_script(), c.key_count());
        add_keys(words, c);
        add_value(words << c.more().former, c) << c.ttl;
        return;
    }
    call(words, fence_adopt_script(), 2 + 2 * c.key_count()).key(node_record_key).key(high_water_key);
    add_locks_and_fences(words, c);
    to.add_id(id);
    add_value(words << c.more().former, c) << c.token << c.ttl << c.retention;
}

void of_state(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    if (c.what == verb::peek) {
        call(words, state_peek_script(), 2).key(c.key).key(c.key, published_suffix);
        return;
    }
    call(words, c.what == verb::publish ? state_publish_script() : state_inherit_script(), 5);
    add_locks_and_fences(words, c);
    words.key(node_record_key).key(high_water_key).key(c.key, published_suffix);
    to.add_id(id);
    add_value(words, c) << c.token << c.retention;
    if (c.what == verb::publish) words << c.more().goal << static_cast<std::uint64_t>(c.more().since) << c.more().former;
}

void reads(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, shared_acquire_script(), 2 + 3 * count).key(node_record_key).key(high_water_key);
    for (std::size_t i = 0; i < count; ++i) words.key(first[i].key).key(first[i].key, fence_suffix).key(first[i].key, want_suffix);
    to.add_id(id);
    words << first->ttl << first->retention;
    for (std::size_t i = 0; i < count; ++i) {
        add_value(words, first[i]) << first[i].token;
        if (first[i].more().since < 0) words << "-1";
        else words << static_cast<std::uint64_t>(first[i].more().since);
    }
}

void wish(resp_writer& words, command const& c)
{
    call(words, shared_want_script(), 2).key(c.key).key(c.key, want_suffix);
    add_value(words, c) << c.ttl;
}

void of_admission(resp_writer& words, command const& c)
{
    if (c.what == verb::claim) {
        call(words, claim_script(), 1).key(node_record_key)
            << c.more().id << c.more().former << c.value << std::uint64_t{c.stays} << c.token;
        return;
    }
    script const& s = c.what == verb::inspect ? inspect_script() : c.what == verb::mark ? mark_script() : admit_script();
    call(words, s, 2).key(node_record_key).key(high_water_key);
    if (c.what != verb::inspect) words << c.more().id;
    if (c.what == verb::admit) words << c.token << c.ttl;
    if (c.what != verb::inspect) words << c.value;
}

}  // namespace

void push_call(boost::redis::request& request, command_writer to, set_options& options, std::span<command const> commands,
               std::string_view id)
{
    command const* const first = commands.data();
    std::size_t const count = commands.size();
    command const& c = *first;
    resp_writer& words = to.words();
    if (c.is_of_permits()) {
        encode_of_permits(to, c, id);
        return to.push_to(request, "EVALSHA");
    }
    switch (c.what) {
    case verb::acquire:
        if (!c.fenced && c.others.empty()) {
            add_value(words.key(c.key), c).add_encoded(options.of(c.ttl), set_options::words);
            words.push_to(request, "SET");
            return;
        }
        if (c.shared) reads(to, first, count, id);
        else if (!c.fenced) several_without_tokens(words, c);
        else c.others.empty() ? acquires_with_tokens(to, first, count, id) : acquire_of_several_with_tokens(to, c, id);
        break;
    case verb::confirm: confirm_with_tokens(to, c, id); break;
    case verb::extend: c.fenced ? extensions_with_tokens(to, first, count, id) : extensions(words, first, count); break;
    case verb::climb: climbs(to, first, count, id); break;
    case verb::release: c.others.empty() ? releases_without_tokens(words, first, count) : several_without_tokens(words, c); break;
    case verb::adopt: adopt(to, c, id); break;
    case verb::watch: return;  // has calls of its own: push_watch
    case verb::inspect:
    case verb::claim:
    case verb::mark:
    case verb::admit: of_admission(words, c); break;
    case verb::publish:
    case verb::inherit:
    case verb::peek: of_state(to, c, id); break;
    case verb::want: wish(words, c); break;
    case verb::keep:
    case verb::look: return;  // of permits
    }
    to.push_to(request, "EVALSHA");
}

}  // namespace redlock::detail
