#include "twin.hpp"

#include "protocol/scripts.hpp"
#include "protocol/shared_scripts.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock::fencing {

namespace {

using std::chrono::milliseconds;
using testing::time_point;

constexpr std::int64_t retention_ms = 3'600'000;
constexpr std::int64_t bucket_ms = 100'000;  // ends are compared in such steps, so that a slow machine makes no difference

std::string changed(std::string_view text, std::string_view from, std::string_view to)
{
    std::string result{text};
    auto const at = result.find(from);
    if (at == std::string::npos) throw std::logic_error{"the mutant no longer fits the script: " + std::string{from}};
    return result.replace(at, from.size(), to);
}

detail::script const& kept(std::string_view text)
{
    // make_script keeps a view of the text.
    static std::map<std::string, detail::script, std::less<>> all;
    auto const found = all.find(text);
    if (found != all.end()) return found->second;
    auto const placed = all.emplace(std::string{text}, detail::script{}).first;
    placed->second = detail::make_script(placed->first);
    return placed->second;
}

coded from_text(testing::resp_reply const& answer)
{
    if (answer.is_error()) return {-100, 0};
    std::istringstream words{answer.items.empty() ? answer.text : answer.items.front()};
    coded c;
    words >> c.code >> c.counter;
    return c;
}

coded from_reply(detail::reply const& r)
{
    switch (r.vote) {
    case vote::granted: return {r.recreated ? 2 : 1, static_cast<token_number>(r.counter)};
    case vote::refused: return {0, static_cast<token_number>(r.counter)};
    default: return {-1, 0};
    }
}

quorum::token_number number_of(token_number t) { return static_cast<quorum::token_number>(t); }

}  // namespace

shared_scripts const& scripts_of(shared_mutant m)
{
    auto const& acquire = detail::shared_acquire_script();
    auto const& confirm = detail::shared_confirm_script();
    auto const& extend = detail::shared_extend_script();
    auto const& release = detail::shared_release_script();
    static std::map<shared_mutant, shared_scripts> all;
    static std::mutex guard;
    std::lock_guard const lock{guard};
    if (auto const found = all.find(m); found != all.end()) return found->second;
    shared_scripts made{acquire, confirm, extend, release};
    switch (m) {
    case shared_mutant::first_is_low:
        made.acquire = kept(changed(acquire.text, "token = math.max(last, above) + 1\n", "token = math.max(last, above)\n"));
        break;
    case shared_mutant::stale_set: made.acquire = kept(changed(acquire.text, "not epoch or counter <= base", "not epoch")); break;
    case shared_mutant::equal_epoch: made.confirm = kept(changed(confirm.text, "-1 - mark >= token", "-1 - mark > token")); break;
    case shared_mutant::no_epoch:
        made.extend = kept(changed(extend.text, "(epoch or counter) > token", "(epoch and 0 or counter) > token"));
        break;
    case shared_mutant::downgrade_low: made.extend = kept(changed(extend.text, "token + tonumber(ARGV[a + 3])", "token")); break;
    case shared_mutant::wipe: made.release = kept(changed(release.text, "call('PEXPIREAT', name, last[2])", "call('DEL', name)")); break;
    case shared_mutant::own_end:
        made.acquire = kept(
            changed(acquire.text, "if stays < ttl then call('PEXPIREAT', name, ends) end", "call('PEXPIREAT', name, ends)"));
        break;
    default: break;
    }
    return all.emplace(m, std::move(made)).first->second;
}

void twin::reset(std::string const& name)
{
    real_.reset();
    name_ = name;
    auto const time = real_.ask({"TIME"}).items;
    now_ms_ = std::stoll(time.at(0)) * 1'000 + std::stoll(time.at(1)) / 1'000;
    model_.flush_all();
    difference_.clear();
    old_entries_.clear();
    old_counter_.reset();
    old_set_.clear();
    admission_changed();
}

// What marks and admissions write is compared elsewhere: here the model takes it over.
void twin::admission_changed()
{
    model_.id = real_.look().id;
    auto const shown = real_.ask({"MGET", "redlock:node", "redlock:hw"}).items;
    model_.record.reset();
    model_.high_water.reset();
    if (shown.at(1) != "(nil)") model_.high_water = std::stoull(shown[1]);
    if (shown.at(0) == "(nil)") return;
    auto const& text = shown[0];
    model_.record = testing::redis_model::node_record{text.substr(0, 40), std::stoull(text.substr(41, 16)),
                                                      milliseconds{std::stoll(text.substr(58, 10))}, text.substr(69)};
}

coded twin::compared(std::string const& what, testing::resp_reply const& real, std::function<coded()> const& model)
{
    coded const answer = from_text(real);
    if (!strict_) return answer;
    coded const expected = model();
    if (difference_.empty() && answer != expected)
        difference_ = what + " was answered " + real.to_string() + ", by the model " + std::to_string(expected.code) + " " +
                      std::to_string(expected.counter);
    compare_keys(what);
    return answer;
}

twin::command twin::exclusive(detail::verb what, want const& w) const
{
    command c{what, name_, w.value, milliseconds{w.ttl_ms}};
    c.fenced = true;
    c.token = number_of(w.token);
    c.retention = milliseconds{retention_ms};
    c.refresh = true;
    return c;
}

coded twin::write_acquire(want const& w)
{
    auto const real = real_.run(detail::fence_acquire_script(), {"redlock:node", "redlock:hw", name_, name_ + ":fence"},
                                {w.id, std::to_string(w.ttl_ms), "1", std::to_string(retention_ms), w.value, std::to_string(w.token)});
    return compared("acquire of writer " + w.value, real, [&] {
        return from_reply(model_.execute(exclusive(detail::verb::acquire, w), time_point{milliseconds{now_ms_}}, w.id));
    });
}

// The model has one word for all refusals that are no vote, so only votes are compared.
coded twin::write_confirm(want const& w)
{
    auto const real = real_.run(detail::fence_confirm_script(), {name_, name_ + ":fence", "redlock:node", "redlock:hw"},
                                {w.id, w.value, std::to_string(w.token), std::to_string(retention_ms)});
    auto const code = from_text(real).code;
    compared("confirm of writer " + w.value, real, [&] {
        auto const m = from_reply(model_.execute(exclusive(detail::verb::confirm, w), time_point{milliseconds{now_ms_}}, w.id));
        return coded{(m.code > 0) == (code > 0) ? code : m.code, 0};
    });
    return {code, 0};
}

coded twin::write_extend(want const& w)
{
    auto const real = real_.run(detail::fence_extend_script(), {"redlock:node", "redlock:hw", name_, name_ + ":fence"},
                                {w.id, std::to_string(retention_ms), "1", "1", w.value, std::to_string(w.token), std::to_string(w.ttl_ms)});
    auto const code = from_text(real).code;
    compared("extend of writer " + w.value, real, [&] {
        auto const m = from_reply(model_.execute(exclusive(detail::verb::extend, w), time_point{milliseconds{now_ms_}}, w.id));
        return coded{(m.code > 0) == (code > 0) && (m.code <= 0 || m.code == code) ? code : m.code, 0};
    });
    return {code, 0};
}

coded twin::read_acquire(want const& w)
{
    auto const real = real_.run(scripts_.acquire, {"redlock:node", "redlock:hw", name_, name_ + ":fence", name_ + ":want"},
                                {w.id, std::to_string(w.ttl_ms), std::to_string(retention_ms), w.value, std::to_string(w.token),
                                 std::to_string(w.since.value_or(-1))});
    return compared("acquire of reader " + w.value, real, [&] {
        testing::shared_model::reader r{name_, w.value, milliseconds{w.ttl_ms}, milliseconds{retention_ms}, number_of(w.token), {}};
        if (w.since) r.since = number_of(*w.since);
        auto const a = readers_.acquire(w.id, r, time_point{milliseconds{now_ms_}});
        return coded{a.code, static_cast<token_number>(a.number)};
    });
}

coded twin::read_confirm(want const& w)
{
    auto const real = real_.run(scripts_.confirm, {name_, name_ + ":fence", "redlock:node", "redlock:hw"},
                                {w.id, w.value, std::to_string(w.token), std::to_string(retention_ms)});
    return compared("confirm of reader " + w.value, real, [&] {
        return coded{readers_.confirm(w.id, {name_, w.value, number_of(w.token), {}, milliseconds{retention_ms}},
                                      time_point{milliseconds{now_ms_}}),
                     0};
    });
}

coded twin::read_extend(want const& w)
{
    auto const real = real_.run(scripts_.extend, {"redlock:node", "redlock:hw", name_, name_ + ":fence"},
                                {w.id, std::to_string(retention_ms), w.recreate ? "1" : "0", "1", w.value, std::to_string(w.token),
                                 std::to_string(w.ttl_ms), w.was_writer ? "1" : "0"});
    return compared("extend of reader " + w.value, real, [&] {
        testing::shared_model::lease const l{name_,      w.value, number_of(w.token), milliseconds{w.ttl_ms}, milliseconds{retention_ms},
                                             w.recreate, true,    w.was_writer};
        return coded{readers_.extend(w.id, l, time_point{milliseconds{now_ms_}}), 0};
    });
}

coded twin::release(want const& w)
{
    auto const real = real_.run(scripts_.release, {name_}, {w.value});
    return compared("release of " + w.value, real,
                    [&] { return coded{readers_.release(name_, w.value, time_point{milliseconds{now_ms_}}), 0}; });
}

coded twin::leave_wish(want const& w)
{
    auto const real = real_.run(detail::shared_want_script(), {name_, name_ + ":want"}, {w.value, std::to_string(w.ttl_ms)});
    return compared("wish of " + w.value, real,
                    [&] { return coded{readers_.want(name_, w.value, milliseconds{w.ttl_ms}, time_point{milliseconds{now_ms_}}), 0}; });
}

void twin::forget_wish()
{
    real_.ask({"DEL", name_ + ":want"});
    model_.del(testing::shared_model::want_key(name_));
}

void twin::age(std::string const& value)
{
    auto const past = now_ms_ - bucket_ms;
    real_.ask({"ZADD", name_, "XX", std::to_string(past), value});
    auto* const there = model_.find(name_, time_point{milliseconds{now_ms_}});
    if (!there || !there->readers) return;
    auto const found = there->readers->ends.find(value);
    if (found != there->readers->ends.end()) found->second = time_point{milliseconds{past}};
}

void twin::vanish()
{
    real_.ask({"DEL", name_});
    model_.del(name_);
}

// Of the real server.
std::vector<std::string> twin::holders()
{
    auto const type = real_.ask({"TYPE", name_}).text;
    if (type == "string") return {real_.ask({"GET", name_}).text};
    if (type != "zset") return {};
    auto members = real_.ask({"ZRANGE", name_, "0", "-1"}).items;
    std::erase(members, "");
    return members;
}

void twin::remember()
{
    real_.remember(name_, false);
    auto const dump = real_.ask({"TYPE", name_}).text == "zset" ? real_.ask({"DUMP", name_}).text : std::string{};
    old_set_ = dump;
    auto const now = time_point{milliseconds{now_ms_}};
    old_entries_.clear();
    if (auto const* const e = model_.find(name_, now)) old_entries_.push_back(*e);
    auto const* const fence = model_.find_counter(name_, now);
    old_counter_.reset();
    if (fence && fence->value) old_counter_ = static_cast<token_number>(*fence->value);
}

void twin::lose(loss what, testing::redis_server& empty)
{
    real_.lose(what, name_, empty);
    if (what != loss::false_alarm) model_.flush_all();
    if (what == loss::roll_back) {
        if (!old_set_.empty()) real_.ask({"RESTORE", name_, "0", old_set_});
        for (auto e : old_entries_) {
            e.expires.reset();
            model_.put(std::move(e));
        }
        if (old_counter_) model_.set_counter(name_, number_of(*old_counter_), std::chrono::hours{1}, time_point{milliseconds{now_ms_}});
    }
    admission_changed();
    compare_keys("loss");
}

std::string twin::end_of(std::int64_t ms) const
{
    return ms < now_ms_ ? "past" : std::to_string((ms - now_ms_ + bucket_ms / 2) / bucket_ms);
}

void twin::compare_keys(std::string const& what)
{
    if (!strict_ || !difference_.empty()) return;
    auto const real = shown_by_real();
    auto const model = shown_by_model();
    if (real != model) difference_ = "after " + what + " the server has " + real + ", the model " + model;
}

std::string twin::shown_by_real()
{
    static detail::script const look = detail::make_script(R"lua(local call, name = redis.call, KEYS[1]
local t, pttl, type = call('TIME'), call('PTTL', name), call('TYPE', name).ok
local ends = pttl < 0 and '-1' or string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000) + pttl)
local all = {type, ends, call('GET', KEYS[2]) or '-', call('GET', KEYS[3]) or '-', call('GET', KEYS[4]) or '-'}
if type == 'string' then all[6] = call('GET', name) end
if type == 'zset' then
  for _, x in ipairs(call('ZRANGE', name, 0, -1, 'WITHSCORES')) do all[#all + 1] = x end
end
return all)lua");
    auto const items = real_.run(look, {name_, name_ + ":fence", "redlock:hw", name_ + ":want"}, {}).items;
    auto const ends = std::stoll(items.at(1));
    std::string text = "counter " + items.at(2) + ", hw " + items.at(3) + ", want " + items.at(4) + ", " + items.at(0);
    if (items[0] != "none") text += " until " + (ends < 0 ? std::string{"ever"} : end_of(ends)) + ":";
    if (items[0] == "string") return text + " " + items.at(5);
    std::map<std::string, std::string> members;
    for (std::size_t i = 5; i + 1 < items.size(); i += 2) {
        auto const score = static_cast<std::int64_t>(std::stod(items[i + 1]));
        if (items[i].empty()) text += " above " + std::to_string(-1 - score);
        if (!items[i].empty()) members[items[i]] = end_of(score);
    }
    for (auto const& [value, until] : members) text += " " + value + "@" + until;
    return text;
}

std::string twin::shown_by_model()
{
    auto const now = time_point{milliseconds{now_ms_}};
    auto const in_ms = [](time_point t) { return static_cast<std::int64_t>(t.time_since_epoch() / milliseconds{1}); };
    auto const* const fence = model_.find_counter(name_, now);
    auto const* const wish = model_.find(testing::shared_model::want_key(name_), now);
    auto const* const e = model_.find(name_, now);
    std::string text = "counter " + (fence ? std::to_string(*fence->value) : "-");
    text += ", hw " + (model_.high_water ? std::to_string(*model_.high_water) : "-") + ", want " + (wish ? wish->value : "-") + ", ";
    text += !e ? "none" : e->readers ? "zset" : "string";
    if (!e) return text;
    text += " until " + (e->expires ? end_of(in_ms(*e->expires)) : std::string{"ever"}) + ":";
    if (!e->readers) return text + " " + e->value;
    text += " above " + std::to_string(e->readers->epoch);
    for (auto const& [value, ends] : e->readers->ends) text += " " + value + "@" + end_of(in_ms(ends));
    return text;
}

}  // namespace redlock::fencing
