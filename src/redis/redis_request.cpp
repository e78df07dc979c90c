#include "redis/redis_request.hpp"

#include "redis/fence_scripts.hpp"
#include "redis/shared_scripts.hpp"

#include <algorithm>
#include <cstdint>

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
            &mark_script(),
            &admit_script(),
            &shared_acquire_script(),
            &shared_confirm_script(),
            &shared_extend_script(),
            &shared_release_script(),
            &shared_want_script()};
}

namespace {

bool same_call(command const& a, command const& b) noexcept
{
    if (a.what != b.what || a.shared != b.shared) return false;
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

// Writes the words of one call, and notes the positions of the server's id in the bytes of the request.
class command_writer {
public:
    command_writer(resp_writer& words, std::vector<std::size_t>& ids) : words_{words}, ids_{ids}, first_{ids.size()} {}

    resp_writer& words() noexcept { return words_; }

    void add_id(std::string_view id)
    {
        words_ << id;
        ids_.push_back(words_.size() - id.size() - 2);
    }

    // Appends the call to the request. add_id() noted positions in the words; from now on they are positions in the bytes of the request, whose last
    // bytes are the words.
    void push_to(boost::redis::request& request, std::string_view name)
    {
        auto const size = words_.size();
        words_.push_to(request, name);
        auto const before = request.payload().size() - size;
        for (auto i = first_; i < ids_.size(); ++i) ids_[i] += before;
    }

private:
    resp_writer& words_;
    std::vector<std::size_t>& ids_;
    std::size_t first_;
};

// The first words after EVALSHA: the script and the number of its keys.
resp_writer& call(resp_writer& words, script const& s, std::size_t keys) { return words << s.sha1 << std::uint64_t{keys}; }

resp_writer& add_value(resp_writer& words, command const& c) { return words.add(c.value, c.value_end); }

void add_keys(resp_writer& words, command const& c)
{
    for (std::size_t k = 0; k < c.key_count(); ++k) words << c.key_at(k);
}

void add_locks_and_fences(resp_writer& words, command const& c)
{
    for (std::size_t k = 0; k < c.key_count(); ++k) (words << c.key_at(k)).add(c.key_at(k), fence_suffix);
}

void extensions(resp_writer& words, command const* first, std::size_t count)
{
    call(words, extend_script(), keys_of(first, count));
    for (std::size_t i = 0; i < count; ++i) add_keys(words, first[i]);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k) add_value(words, first[i]) << first[i].ttl;
}

void extensions_with_tokens(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    bool const refresh = std::any_of(first, first + count, [](command const& c) { return c.refresh; });
    call(words, fence_extend_script(), 2 + 2 * keys_of(first, count)) << node_record_key << high_water_key;
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->retention << "1" << (refresh ? "1" : "0");
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k) add_value(words, first[i]) << first[i].token << first[i].ttl;
}

void climbs(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, fence_climb_script(), 2 + 2 * keys_of(first, count)) << node_record_key << high_water_key;
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->retention;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t k = 0; k < first[i].key_count(); ++k)
            add_value(words, first[i]) << first[i].token << first[i].goal << first[i].ttl;
}

void releases(resp_writer& words, command const* first, std::size_t count)
{
    call(words, count == 1 ? release_script() : release_many_script(), count);
    for (std::size_t i = 0; i < count; ++i) words << first[i].key;
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
    call(words, fence_acquire_script(), 2 + 2 * count) << node_record_key << high_water_key;
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->ttl << std::uint64_t{first->block} << first->retention;
    for (std::size_t i = 0; i < count; ++i) add_value(words, first[i]) << first[i].token;
}

void acquire_of_several_with_tokens(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, fence_acquire_several_script(), 2 + 2 * c.key_count()) << node_record_key << high_water_key;
    add_locks_and_fences(words, c);
    to.add_id(id);
    add_value(words, c) << c.ttl << c.token << std::uint64_t{c.block} << c.retention;
}

void confirm_with_tokens(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    if (c.others.empty()) {
        call(words, fence_confirm_script(), 4);
        add_locks_and_fences(words, c);
        words << node_record_key << high_water_key;
    } else {
        call(words, fence_confirm_several_script(), 2 + 2 * c.key_count()) << node_record_key << high_water_key;
        add_locks_and_fences(words, c);
    }
    to.add_id(id);
    add_value(words, c) << c.token << c.retention;
}

void adoption(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    if (!c.fenced) {
        call(words, adopt_script(), c.key_count());
        add_keys(words, c);
        add_value(words << c.former, c) << c.ttl;
        return;
    }
    call(words, fence_adopt_script(), 2 + 2 * c.key_count()) << node_record_key << high_water_key;
    add_locks_and_fences(words, c);
    to.add_id(id);
    add_value(words << c.former, c) << c.token << c.ttl << c.retention;
}

void reads(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, shared_acquire_script(), 2 + 3 * count) << node_record_key << high_water_key;
    for (std::size_t i = 0; i < count; ++i) (words << first[i].key).add(first[i].key, fence_suffix).add(first[i].key, want_suffix);
    to.add_id(id);
    words << first->ttl << first->retention;
    for (std::size_t i = 0; i < count; ++i) {
        add_value(words, first[i]) << first[i].token;
        if (first[i].since < 0) words << "-1";
        else words << static_cast<std::uint64_t>(first[i].since);
    }
}

void confirmation_of_reader(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, shared_confirm_script(), 4);
    add_locks_and_fences(words, c);
    words << node_record_key << high_water_key;
    to.add_id(id);
    add_value(words, c) << c.token << c.retention;
}

void extensions_of_readers(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    resp_writer& words = to.words();
    bool const refresh = std::any_of(first, first + count, [](command const& c) { return c.refresh; });
    call(words, shared_extend_script(), 2 + 2 * count) << node_record_key << high_water_key;
    for (std::size_t i = 0; i < count; ++i) add_locks_and_fences(words, first[i]);
    to.add_id(id);
    words << first->retention << "1" << (refresh ? "1" : "0");
    for (std::size_t i = 0; i < count; ++i)
        add_value(words, first[i]) << first[i].token << first[i].ttl << (first[i].was_writer ? "1" : "0");
}

void releases_of_readers(resp_writer& words, command const* first, std::size_t count)
{
    call(words, shared_release_script(), count);
    for (std::size_t i = 0; i < count; ++i) words << first[i].key;
    for (std::size_t i = 0; i < count; ++i) add_value(words, first[i]);
}

void wish(resp_writer& words, command const& c)
{
    (call(words, shared_want_script(), 2) << c.key).add(c.key, want_suffix);
    add_value(words, c) << c.ttl;
}

// The words of one call about readers.
void encode_of_readers(command_writer& to, command const* first, std::size_t count, std::string_view id)
{
    switch (first->what) {
    case verb::acquire: return reads(to, first, count, id);
    case verb::confirm: return confirmation_of_reader(to, *first, id);
    case verb::extend: return extensions_of_readers(to, first, count, id);
    case verb::release: return releases_of_readers(to.words(), first, count);
    case verb::climb:
    case verb::adopt:
    case verb::watch:
    case verb::inspect:
    case verb::mark:
    case verb::admit:
    case verb::want: break;
    }
}

void of_admission(resp_writer& words, command const& c)
{
    script const& s = c.what == verb::inspect ? inspect_script() : c.what == verb::mark ? mark_script() : admit_script();
    call(words, s, 2) << node_record_key << high_water_key;
    if (c.what != verb::inspect) words << c.id;
    if (c.what == verb::admit) words << c.token << c.ttl;
    if (c.what != verb::inspect) words << c.value;
}

// Pushes one call that carries `count` commands, from `first` on.
void push(boost::redis::request& request, command_writer to, set_options& options, command const* first, std::size_t count,
          std::string_view id)
{
    command const& c = *first;
    resp_writer& words = to.words();
    if (c.shared) {
        encode_of_readers(to, first, count, id);
        return to.push_to(request, "EVALSHA");
    }
    switch (c.what) {
    case verb::acquire:
        if (!c.fenced && c.others.empty()) {
            add_value(words << c.key, c).add_encoded(options.of(c.ttl), set_options::words);
            words.push_to(request, "SET");
            return;
        }
        if (!c.fenced) several_without_tokens(words, c);
        else c.others.empty() ? acquires_with_tokens(to, first, count, id) : acquire_of_several_with_tokens(to, c, id);
        break;
    case verb::confirm: confirm_with_tokens(to, c, id); break;
    case verb::extend: c.fenced ? extensions_with_tokens(to, first, count, id) : extensions(words, first, count); break;
    case verb::climb: climbs(to, first, count, id); break;
    case verb::release: c.others.empty() ? releases(words, first, count) : several_without_tokens(words, c); break;
    case verb::adopt: adoption(to, c, id); break;
    case verb::watch: return;  // has calls of its own: push_watch
    case verb::inspect:
    case verb::mark:
    case verb::admit: of_admission(words, c); break;
    case verb::want: wish(words, c); break;
    }
    to.push_to(request, "EVALSHA");
}

}  // namespace

std::string_view set_options::of(std::chrono::milliseconds ttl)
{
    if (ttl != ttl_) {
        std::string const digits = std::to_string(ttl.count());
        encoded_ = "$2\r\nNX\r\n$2\r\nPX\r\n$" + std::to_string(digits.size()) + "\r\n" + digits + "\r\n";
        ttl_ = ttl;
    }
    return encoded_;
}

void redis_request::encode(batch const& work, std::string_view id, request_extras extras)
{
    auto const& commands = work.commands;
    extras_ = extras;
    id_ = id;
    ids_.clear();
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
        push(request, {words_, ids_}, set_options_, &c, count, id);
        calls.push_back({wire_call::kind::commands, c.what, c.fenced, i, count, false, {}, c.shared});
        if (c.what == verb::extend || c.what == verb::climb) calls.back().key_counts = key_counts(&c, count);
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
        request.push("PTTL", key);
        calls.push_back({wire_call::kind::commands, verb::watch, false, index, 1, goes_on, {}, false});
    };
    watch(c.key, false);
    for (std::string const& key : c.others) watch(key, true);
}

}  // namespace redlock::detail
