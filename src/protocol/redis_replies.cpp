#include "protocol/redis_replies.hpp"

#include "protocol/fence_answers.hpp"
#include "protocol/fence_keys.hpp"
#include "protocol/rights.hpp"
#include "protocol/semaphore.hpp"
#include "protocol/server_facts.hpp"
#include "protocol/server_id.hpp"
#include "protocol/shared_scripts.hpp"
#include "protocol/state_scripts.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <optional>
#include <utility>

namespace redlock::detail {

namespace resp3 = boost::redis::resp3;

namespace {

bool is_ok(resp3::node_view const& node) noexcept
{
    return node.depth == 0 && node.data_type == resp3::type::simple_string && node.value == "OK";
}

}  // namespace

std::optional<std::int64_t> whole_number(resp3::node_view const& node)
{
    if (node.data_type != resp3::type::number) return std::nullopt;
    if (node.value == "1") return 1;  // most answers are
    std::int64_t n{0};
    auto const end = node.value.data() + node.value.size();
    auto const [stop, error] = std::from_chars(node.value.data(), end, n);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return n;
}

std::chrono::milliseconds expiry_of(std::int64_t left) noexcept
{
    constexpr std::chrono::milliseconds max_waited_for = std::chrono::days{365};
    std::chrono::milliseconds const time{left};
    return left < 0 || time > max_waited_for ? never_expires : time;
}

reply unexpected() { return {vote::failed, errc::unexpected_reply}; }

// The reply for the answer of a script with tokens.
reply to_reply(std::optional<std::int64_t> answer)
{
    if (!answer) return unexpected();
    switch (*answer) {
    case 1: return {vote::granted, {}, {}};
    case fence_refused:
    case fence_overtaken: return {vote::refused, {}, {}};
    case fence_not_admitted: return {vote::failed, errc::node_not_admitted, "it has no record of its admission"};
    case fence_ttl_too_long: return {vote::failed, errc::ttl_too_long, {}};
    case fence_no_counter: return {vote::failed, errc::unexpected_reply, "the key of the counter (NAME:fence) holds something else"};
    case state_no_room: return {vote::failed, errc::unexpected_reply, "the key of the state (NAME:published) holds something else"};
    case fence_used_up: return {vote::failed, errc::server_error, "FENCE tokens are used up"};
    default: return unexpected();
    }
}

namespace {

// Fills a reply that is as begin() left it, with nothing but a vote. The usual answers take this cheap way.
void set_vote(reply& r, redlock::vote v) noexcept
{
    r.vote = v;
    r.error = {};
}

// The reply for an answer about one key of an extension: 2 says that it has set a missing key again, and one below -100 which guard the
// lease needs.
reply to_extended(std::optional<std::int64_t> answer)
{
    if (answer && *answer < fence_needs_guard && *answer > fence_needs_guard - script_number_end) {
        reply r{vote::refused, {}, {}};
        r.counter = static_cast<quorum::token_number>(fence_needs_guard - *answer);
        return r;
    }
    if (answer != 2) return to_reply(answer);
    reply r{vote::granted, {}, {}};
    r.recreated = true;
    return r;
}

// In Redis 6 the error that stopped a script stands behind a text about the script.
bool is_of_a_replica(std::string_view error) noexcept
{
    return error.starts_with("READONLY") || (error.starts_with("ERR Error running script") && error.find("-READONLY") != error.npos);
}

// Redis checks permissions before it executes a call, so none of this call was executed.
bool is_not_permitted(reply const& r) noexcept { return r.error == errc::server_error && r.words().starts_with("NOPERM"); }

bool is_about_a_lock(verb what) noexcept
{
    return what == verb::acquire || what == verb::confirm || what == verb::extend || what == verb::climb || what == verb::release ||
           what == verb::adopt;
}

// A lock of several keys gets the reply with the largest number.
int badness(reply const& r) noexcept
{
    if (r.vote == vote::granted) return 0;
    if (r.vote == vote::refused) return r.counter > 0 ? 1 : 2;
    if (r.error == errc::node_not_admitted) return 5;
    return r.error == errc::ttl_too_long ? 4 : 3;
}

}  // namespace

bool is_error(resp3::node_view const& node) noexcept
{
    return node.data_type == resp3::type::simple_error || node.data_type == resp3::type::blob_error;
}

// Not in the constructor: until the answer comes, the memory of thousands of replies has left all caches.
void reply_reader::begin()
{
    has_begun_ = true;
    replies_.resize(commands_);
    for (reply& r : replies_) r = unexpected();
}

bool reply_reader::is_noscript(reply const& r) noexcept { return r.error == errc::server_error && r.words().starts_with("NOSCRIPT"); }

bool reply_reader::repeatable::is(reply const& r) const noexcept { return (scripts && is_noscript(r)) || (apart && is_not_permitted(r)); }

void reply_reader::on_node(std::size_t index, node_view const& node)
{
    if (!has_begun_) begin();
    if (index >= calls_.size()) return;  // more answers than calls: Boost.Redis counts them, so this is its bug
    wire_call const& call = calls_[index];
    if (call.is != wire_call::kind::commands) return on_another_call(call, node);
    assert(call.first + call.count <= replies_.size());

    reply& r = replies_[call.first];
    if (call.what == verb::acquire && !call.fenced && is_ok(node)) return set_vote(r, vote::granted);  // most answers without tokens
    if (node.depth == 0 && is_error(node)) return on_error(call, node.value);
    if (call.what == verb::watch) return on_time_left(call, r, node);
    if (node.depth == 0) {
        array_call_ = node.data_type == resp3::type::array ? index + 1 : 0;
        element_ = 0;
        bool const is_text = node.data_type == resp3::type::blob_string;
        if (call.of_slots && call.what != verb::extend) return void(is_text ? r = to_reply_of_permits(call.what, node.value) : r);
        if (call.what == verb::acquire && call.fenced) return on_acquires_with_tokens(call, node);
        if (call.what == verb::acquire && node.data_type == resp3::type::null) return set_vote(r, vote::refused);
        if (call.what == verb::release && (call.count > 1 || call.shared)) return on_releases(call, node);
        bool const is_number = (call.what == verb::release && call.count == 1) || call.what == verb::confirm || call.what == verb::adopt ||
                               call.what == verb::publish || call.what == verb::admit || call.what == verb::want;
        if (is_number) on_number(call, r, node);
    } else if (node.depth == 1 && array_call_ == index + 1) {
        on_element(call, element_++, node);
    }
}

// Calls that carry no commands.
void reply_reader::on_another_call(wire_call const& call, node_view const& node)
{
    switch (call.is) {
    case wire_call::kind::time: return time_.on_node(node);
    case wire_call::kind::identity: return on_identity(node);
    case wire_call::kind::arm: armed_ = is_ok(node); return;
    case wire_call::kind::load_script: return;  // the calls behind it show whether it failed
    case wire_call::kind::commands: return;
    }
}

void reply_reader::on_error(wire_call const& call, std::string_view text)
{
    // A foreign key of another type is a lock of another library: somebody holds it.
    if (text.starts_with("WRONGTYPE") && is_about_a_lock(call.what)) {
        for (std::size_t i = 0; i < call.count; ++i) replies_[call.first + i] = reply{vote::refused, {}, {}};
        return;
    }
    std::string words{text};
    if (auto const right = missing_right(text, scripts_of_nodes()); !right.empty())
        words += "; allow " + right + " to the user (ACL SETUSER)";
    reply const failed{vote::failed, errc::server_error, std::move(words)};
    for (std::size_t i = 0; i < call.count; ++i) replies_[call.first + i] = failed;
    if (is_noscript(replies_[call.first])) repeatable_.scripts = true;
    if (call.count > 1 && is_not_permitted(replies_[call.first])) repeatable_.apart = true;
    if (is_of_a_replica(text)) demoted_ = true;
}

// A watch of several keys is answered by the first that cannot be read, or by the one that stays longest; of slots, by the one that goes
// first.
void reply_reader::on_time_left(wire_call const& call, reply& r, node_view const& node)
{
    constexpr std::int64_t free = -2;
    if (call.goes_on && r.vote != vote::granted) return;
    auto const left = whole_number(node);
    if (node.depth != 0 || !left || *left < free) {
        r = unexpected();
        return;
    }
    r.watching = armed_ && (r.watching || !call.goes_on);
    r.vote = vote::granted;
    r.error = {};
    auto const stays = expiry_of(*left);
    if (call.of_slots) {
        bool const was_free = call.goes_on && !r.expires_in;
        if (*left == free || was_free) r.expires_in.reset();
        else r.expires_in = std::min(r.expires_in.value_or(stays), stays);
        return;
    }
    if (*left == free) return;
    r.expires_in = std::max(r.expires_in.value_or(stays), stays);
}

void reply_reader::on_number(wire_call const& call, reply& r, node_view const& node)
{
    auto const number = whole_number(node);
    if (call.what == verb::confirm || call.what == verb::publish || (call.what == verb::adopt && call.fenced)) {
        r = to_reply(number);
    } else if (number == 1 || (call.what == verb::admit && number == 2)) {
        set_vote(r, vote::granted);
    } else if (number == 0 || (call.what == verb::admit && number == -1)) {
        set_vote(r, vote::refused);
    }
}

// The answer holds two numbers for each acquire: "1 TOKEN", or a code for the reason and a number that belongs to it. The reading ends at
// the first text that is something else: the acquires from there on get no votes.
void reply_reader::on_acquires_with_tokens(wire_call const& call, node_view const& node)
{
    if (node.data_type != resp3::type::blob_string) return;
    char const* at = node.value.data();
    char const* const end = at + node.value.size();
    auto const next = [&](std::int64_t& number) {
        auto const [stop, error] = std::from_chars(at, end, number);
        bool const whole = error == std::errc{} && (stop == end || *stop == ' ');
        at = stop == end ? end : stop + 1;
        return whole;
    };
    for (std::size_t i = 0; i < call.count; ++i) {
        std::int64_t code{0}, number{0};
        if (!next(code) || at == end || !next(number) || number < 0 || number >= script_number_end) return;
        reply& r = replies_[call.first + i];
        if (code == 1) {
            if (number > 0) set_vote(r, vote::granted);  // without a token there is no grant
        } else if (code == shared_writer_waits && call.shared) {
            set_vote(r, vote::refused);
            r.writer_waits = true;
        } else {
            r = to_reply(code);
            if (r.error == errc::ttl_too_long) r.set_words("this node allows up to " + std::to_string(number) + " ms");
        }
        if (r.error == errc{}) r.counter = static_cast<quorum::token_number>(number);
    }
}

// The answer holds a digit for each release. A digit that is missing, or anything else, is no vote.
void reply_reader::on_releases(wire_call const& call, node_view const& node)
{
    if (node.data_type != resp3::type::blob_string) return;
    auto const size = std::min<std::size_t>(node.value.size(), call.count);
    for (std::size_t i = 0; i < size; ++i) {
        if (node.value[i] == '1') set_vote(replies_[call.first + i], vote::granted);
        if (node.value[i] == '0') set_vote(replies_[call.first + i], vote::refused);
    }
}

// Takes one element of an array, which some scripts answer with.
void reply_reader::on_element(wire_call const& call, std::size_t element, node_view const& node)
{
    reply& r = replies_[call.first];
    auto const number = whole_number(node);
    switch (call.what) {
    case verb::extend:
        if (call.fenced) return on_extended(call, element, to_extended(number));
        if (number == 0 || number == 1) return on_extended(call, element, {number == 1 ? vote::granted : vote::refused, {}, {}});
        return on_extended(call, element, unexpected());
    case verb::climb: return on_extended(call, element, to_reply(number));
    case verb::mark:
        if (element == 0) mark_granted_ = number == 0 || number == 1;
        if (element == 0 && (number == 2 || number == -1)) r = reply{vote::refused, {}, {}};
        if (element == 1 && mark_granted_ && node.data_type == resp3::type::blob_string && !node.value.empty())
            r = {vote::granted, {}, std::string{node.value}};
        return;
    case verb::inherit:
    case verb::peek: return parts().state.on_element(call.what, element, node, r);
    case verb::inspect:
        parts().facts.on_element(element, node.value);
        if (element == 5) {
            r = reply{vote::granted, {}, {}};
            r.set_facts(parts().facts.take());
            has_facts_ = true;
            demoted_ = demoted_ || !r.facts()->master;
        }
        if (element > 5 && facts_reader::adds_to_facts(element) && r.facts() && !node.value.empty()) {
            auto facts = *r.facts();
            parts().facts.complete(facts);
            r.set_facts(std::move(facts));
        }
        return;
    case verb::claim:
        if (element == 0) claim_ = number;
        if (element != 1 || !claim_ || node.data_type != resp3::type::blob_string) return;
        if (claim_ == 1 || claim_ == 0) r = {claim_ == 1 ? vote::granted : vote::refused, {}, std::string{node.value}};
        if (claim_ == -1) r = reply{vote::refused, {}, {}};
        return;
    case verb::acquire:
    case verb::release:
    case verb::confirm:
    case verb::adopt:
    case verb::watch:
    case verb::admit:
    case verb::publish:
    case verb::want:
    case verb::keep:
    case verb::look: return;
    }
}

// A node extends a lock of several keys if it extended all of them. The reply keeps `recreated` also if other keys were refused, because
// the release of the lock must delete the keys that were set again. The guard that the lock needs is the largest that one of its keys
// needs. The same for climbs.
void reply_reader::on_extended(wire_call const& call, std::size_t element, reply&& of_key)
{
    if (!call.key_counts) {
        if (element < call.count) replies_[call.first + element] = std::move(of_key);
        return;
    }
    if (element == 0) extension_ = keys_read_ = 0;
    if (extension_ == call.count) return;
    reply& worst = parts().worst;
    bool const recreated = of_key.recreated || (keys_read_ > 0 && worst.recreated);
    auto const is_worse = [&] {
        int const here = badness(of_key), there = badness(worst);
        return here > there || (here == there && of_key.counter > worst.counter);
    };
    if (keys_read_ == 0 || is_worse()) worst = std::move(of_key);
    worst.recreated = recreated;
    if (++keys_read_ < call.key_counts[extension_]) return;
    replies_[call.first + extension_] = std::move(worst);
    ++extension_;
    keys_read_ = 0;
}

reply_reader::answer_in_parts& reply_reader::parts()
{
    if (!parts_) parts_ = std::make_unique<answer_in_parts>();
    return *parts_;
}

void reply_reader::on_identity(node_view const& node)
{
    if (node.depth != 0) return;
    if (is_error(node)) {
        identity_error_ = reply{vote::failed, errc::server_error, std::string{node.value}};
        return;
    }
    auto const role = field_of_info(node.value, "role");
    is_expected_server_ = names_server(id_, field_of_info(node.value, "master_replid")) && role == "master";
    demoted_ = demoted_ || (!role.empty() && role != "master");
}

void reply_reader::conclude()
{
    if (!has_begun_) begin();
    drop_votes_of_another_server();
    if (!replies_.empty()) replies_.back().server_time = time_.clock();
}

void reply_reader::drop_votes_of_another_server()
{
    bool const asked = !calls_.empty() && calls_.back().is == wire_call::kind::identity;
    if (!asked || is_expected_server_) return;
    reply const instead = identity_error_.value_or(reply{vote::failed, errc::node_not_admitted, "it is another server than before"});
    for (wire_call const& call : calls_) {
        if (!call.fenced || !may_vote_with_tokens(call.what)) continue;
        for (std::size_t i = 0; i < call.count; ++i)
            if (!is_noscript(replies_[call.first + i])) replies_[call.first + i] = instead;
    }
}

}  // namespace redlock::detail
