#include "node/redis_codec.hpp"

#include "node/fence_scripts.hpp"
#include "node/server_facts.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <string>
#include <utility>

namespace redlock::detail {

namespace resp3 = boost::redis::resp3;

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

template <class Number>
Number to_number(std::string_view text)
{
    Number n{0};
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

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

// What a script with tokens answered.
reply to_reply(int answer)
{
    switch (answer) {
    case 1: return {vote::granted, {}, {}};
    case 2: {
        reply r{vote::granted, {}, {}};
        r.planted = true;
        return r;
    }
    case fence_refused:
    case fence_overtaken: return {vote::refused, {}, {}};
    case fence_not_admitted: return {vote::failed, errc::node_not_admitted, "it does not remember its admission"};
    case fence_ttl_too_long: return {vote::failed, errc::ttl_too_long, {}};
    case fence_no_counter: return {vote::failed, errc::unexpected_reply, "the key of the counter (NAME:fence) holds something else"};
    default: return {vote::failed, errc::unexpected_reply, {}};
    }
}

// Of the answers for the keys of one lock, the larger one speaks for all.
int badness(reply const& r) noexcept
{
    if (r.vote == vote::granted) return 0;
    if (r.vote == vote::refused) return 1;
    if (r.error == errc::node_not_admitted) return 4;
    return r.error == errc::ttl_too_long ? 3 : 2;
}

}  // namespace

bool is_error(resp3::node_view const& node) noexcept
{
    return node.data_type == resp3::type::simple_error || node.data_type == resp3::type::blob_error;
}

redis_request::redis_request(batch const& work, std::string_view id, request_extras more) : request{one_connection_only()}
{
    auto const& commands = work.commands;
    calls.reserve(commands.size() + (more.identity ? 1 : 0));
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

void facts_reader::on_element(std::size_t index, std::string_view value)
{
    switch (index) {
    case 0:
        facts_.id = value;
        says_its_id_ = !value.empty();
        break;
    case 1: facts_.master = value.empty() || value == "master"; break;
    case 4: record_ = value; break;
    case 5:
        has_high_water_ = !value.empty();
        facts_.high_water = to_number<quorum::token_number>(value);
        break;
    default: break;
    }
}

// The record is "ID BASE MAXTTL MARK", of fixed widths up to the mark.
quorum::node_facts facts_reader::take()
{
    constexpr std::size_t id_width = 40, base_at = 41, base_width = 16, ttl_at = 58, ttl_width = 10, mark_at = 69;
    if (record_.size() > mark_at) {
        std::string_view const record{record_};
        auto const id = record.substr(0, id_width);
        bool const ever_admitted = id.find_first_not_of('0') != std::string_view::npos;
        if (ever_admitted && has_high_water_) facts_.admitted = id;
        if (auto const mark = record.substr(mark_at); mark != "-") facts_.mark = mark;
        facts_.high_water = std::max(facts_.high_water, to_number<quorum::token_number>(record.substr(base_at, base_width)));
        facts_.max_ttl = std::chrono::milliseconds{to_number<std::int64_t>(record.substr(ttl_at, ttl_width))};
    }
    if (!says_its_id_) facts_.id = facts_.admitted;
    return std::exchange(facts_, {});
}

reply_reader::reply_reader(std::vector<wire_call> const& calls, std::string_view id, std::vector<reply>& replies)
    : calls_{calls}, id_{id}, replies_{replies}, not_the_one_{vote::failed, errc::node_not_admitted, "it is another server than before"}
{
    for (reply& r : replies_) r = reply{vote::failed, errc::unexpected_reply, {}};
}

bool reply_reader::is_noscript(reply const& r) noexcept
{
    return r.error == errc::server_error && r.detail.starts_with("NOSCRIPT");
}

void reply_reader::on_node(std::size_t index, node_view const& node)
{
    if (index >= calls_.size()) return;  // more answers than calls: Boost.Redis counts them, so this is its bug
    wire_call const& call = calls_[index];
    if (call.is == wire_call::kind::load_script) return;  // the calls behind it show whether it failed
    if (call.is == wire_call::kind::identity) return on_identity(node);
    if (call.is == wire_call::kind::arm) {
        armed_ = node.depth == 0 && !is_error(node);
        return;
    }
    assert(call.first + call.count <= replies_.size());

    if (node.depth == 0 && is_error(node)) return on_error(call, node.value);
    if (array_of_ != index + 1) {
        array_of_ = index + 1;
        element_ = 0;
    }
    reply& r = replies_[call.first];
    if (call.what == verb::watch) return on_time_left(call, r, node);
    if (call.what == verb::acquire && !call.fenced) return on_plain_acquire(r, node);
    if (node.depth == 1) return on_element(call, element_++, node.value);
    if (call.what == verb::release || call.what == verb::confirm || call.what == verb::admit) on_number(call, r, node);
}

void reply_reader::on_error(wire_call const& call, std::string_view text)
{
    // A foreign key of another type is a lock of another library: somebody holds it.
    if (text.starts_with("WRONGTYPE")) {
        for (std::size_t i = 0; i < call.count; ++i) replies_[call.first + i] = reply{vote::refused, {}, {}};
        return;
    }
    for (std::size_t i = 0; i < call.count; ++i)
        replies_[call.first + i] = reply{vote::failed, errc::server_error, std::string{text}};
    if (is_noscript(replies_[call.first])) noscript_ = true;
}

void reply_reader::on_plain_acquire(reply& r, node_view const& node)
{
    if (node.depth != 0) return;
    if (node.data_type == resp3::type::null) r = reply{vote::refused, {}, {}};
    if (node.data_type == resp3::type::simple_string && node.value == "OK") r = reply{vote::granted, {}, {}};
}

// A watch of several keys is answered by the first that cannot be read, or by the one that stays longest.
void reply_reader::on_time_left(wire_call const& call, reply& r, node_view const& node)
{
    constexpr std::int64_t free = -2;
    if (node.depth != 0 || (call.goes_on && r.vote != vote::granted)) return;
    if (node.data_type != resp3::type::number) {
        r = reply{vote::failed, errc::unexpected_reply, {}};
        return;
    }
    r.watching = armed_ && (r.watching || !call.goes_on);
    r.vote = vote::granted;
    r.error = {};
    auto const left = to_number<std::int64_t>(node.value);
    if (left <= free) return;
    auto const stays = left < 0 ? never_expires : std::chrono::milliseconds{left};
    r.expires_in = std::max(r.expires_in.value_or(stays), stays);
}

void reply_reader::on_number(wire_call const& call, reply& r, node_view const& node)
{
    if (node.data_type != resp3::type::number) return;
    auto const number = to_number<int>(node.value);
    if (call.what == verb::confirm) {
        r = to_reply(number);
    } else if (call.what == verb::admit) {
        r = reply{number > 0 ? vote::granted : vote::refused, {}, {}};
    } else if (node.value == "1") {
        r = reply{vote::granted, {}, {}};
    } else if (node.value == "0") {
        r = reply{vote::refused, {}, {}};
    }
}

// The elements of the arrays that scripts answer.
void reply_reader::on_element(wire_call const& call, std::size_t element, std::string_view value)
{
    reply& r = replies_[call.first];
    switch (call.what) {
    case verb::extend:
        if (call.fenced) return on_extended(call, element, to_reply(to_number<int>(value)));
        if (value == "0" || value == "1") return on_extended(call, element, {value == "1" ? vote::granted : vote::refused, {}, {}});
        return on_extended(call, element, {vote::failed, errc::unexpected_reply, {}});
    case verb::acquire:
        if (element == 0) r = to_reply(to_number<int>(value));
        if (element == 1 && r.error == errc::ttl_too_long) r.detail = "this node allows up to " + std::string{value} + " ms";
        if (element == 1 && !r.error) r.counter = to_number<quorum::token_number>(value);
        return;
    case verb::mark:
        if (element == 0) r = reply{value == "0" || value == "1" ? vote::granted : vote::refused, {}, {}};
        if (element == 1) r.detail = value;
        return;
    case verb::inspect:
        facts_.on_element(element, value);
        if (element == 5) {
            r = reply{vote::granted, {}, {}};
            r.facts = std::make_shared<quorum::node_facts const>(facts_.take());
        }
        return;
    case verb::confirm:
    case verb::release:
    case verb::watch:
    case verb::admit: return;
    }
}

// A lock of several keys is extended where all of them were. What was set again stays known, also where others were refused: it
// must be deleted by whoever releases the lock.
void reply_reader::on_extended(wire_call const& call, std::size_t element, reply&& one)
{
    if (call.key_counts.empty()) {
        if (element < call.count) replies_[call.first + element] = std::move(one);
        return;
    }
    if (element == 0) extension_ = keys_read_ = 0;
    if (extension_ == call.count) return;
    bool const planted = one.planted || (keys_read_ > 0 && worst_.planted);
    if (keys_read_ == 0 || badness(one) > badness(worst_)) worst_ = std::move(one);
    worst_.planted = planted;
    if (++keys_read_ < call.key_counts[extension_]) return;
    replies_[call.first + extension_] = std::move(worst_);
    ++extension_;
    keys_read_ = 0;
}

void reply_reader::on_identity(node_view const& node)
{
    if (node.depth != 0) return;
    if (is_error(node)) {
        not_the_one_ = {vote::failed, errc::server_error, std::string{node.value}};
        return;
    }
    is_the_one_ = field_of_info(node.value, "master_replid") == id_ && field_of_info(node.value, "role") == "master";
}

void reply_reader::conclude()
{
    bool const asked = !calls_.empty() && calls_.back().is == wire_call::kind::identity;
    if (!asked || is_the_one_) return;
    for (wire_call const& call : calls_) {
        bool const votes = call.fenced && (call.what == verb::acquire || call.what == verb::confirm || call.what == verb::extend);
        for (std::size_t i = 0; votes && i < call.count; ++i)
            if (!is_noscript(replies_[call.first + i])) replies_[call.first + i] = not_the_one_;
    }
}

// `invalidate` and the keys, or null: all of them.
std::optional<std::string_view> push_reader::on_node(resp3::node_view const& node)
{
    if (node.depth == 0) {
        element_ = 0;
        invalidates_ = false;
        return {};
    }
    if (node.depth == 1) {
        if (element_++ == 0) {
            invalidates_ = node.value == "invalidate";
        } else if (invalidates_ && node.data_type == resp3::type::null) {
            return std::string_view{};
        }
        return {};
    }
    if (invalidates_ && node.depth == 2 && node.data_type == resp3::type::blob_string) return std::string_view{node.value};
    return {};
}

}  // namespace redlock::detail
