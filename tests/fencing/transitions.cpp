#include "transitions.hpp"

namespace redlock::fencing {

namespace {

std::string numbers(std::array<bool, node_count> const& of)
{
    std::string text;
    for (std::size_t i = 0; i < of.size(); ++i)
        if (of[i]) text += " " + std::to_string(i);
    return text;
}

}  // namespace

transitions::transitions(std::array<node, node_count>& nodes, std::string name, bool wanted)
    : nodes_{nodes}, name_{std::move(name)}, wanted_{wanted}
{
}

void transitions::line(std::string const& text, std::string const& changed)
{
    text_ += text;
    if (!changed.empty()) text_ += " ;" + changed;
    text_ += '\n';
}

std::string transitions::changes_of(std::size_t n)
{
    auto const now = nodes_[n].show(name_);
    auto const& before = known_[n];
    std::string text;
    auto const say = [&text](std::string const& what, std::string const& old, std::string const& fresh) {
        if (old != fresh) text += " " + what + "=" + fresh;
    };
    say("life", before.id, now.id);
    say("record", before.record, now.record);
    say("mark", before.mark, now.mark);
    say("base", std::to_string(before.base), std::to_string(now.base));
    say("hw", std::to_string(before.high_water), std::to_string(now.high_water));
    say("max", std::to_string(before.max_ttl), std::to_string(now.max_ttl));
    say("key:" + name_, before.key, now.key);
    say("count:" + name_, before.counter, now.counter);
    known_[n] = now;
    return text;
}

void transitions::must_not_have_changed(std::size_t n, std::string const& what)
{
    if (auto const changed = changes_of(n); !changed.empty()) line("unexplained " + std::to_string(n) + " " + what, changed);
}

void transitions::begin(std::uint64_t seed)
{
    if (!wanted_) return;
    line("schedule " + std::to_string(seed) + " " + std::to_string(node_count));
    for (std::size_t i = 0; i < node_count; ++i) line("node " + std::to_string(i), changes_of(i));
    beginning_ = text_.size();
}

void transitions::key_vanished(std::size_t n)
{
    if (!wanted_) return;
    bool const was_there = known_[n].key != shown_by_server{}.key;
    auto const changed = changes_of(n);
    if (was_there && !changed.empty()) return line("key_vanishes " + std::to_string(n) + " " + name_, changed);
    if (!changed.empty()) line("unexplained " + std::to_string(n) + " a key vanished", changed);
}

void transitions::lost(std::size_t n)
{
    if (!wanted_) return;
    auto const id = known_[n].id;
    auto const changed = changes_of(n);
    line((known_[n].id == id ? "is_wiped " : "restarts ") + std::to_string(n), changed);
}

void transitions::acquired(std::size_t n, std::string const& value, token_number counter, std::string const& id, bool granted)
{
    if (!wanted_) return;
    if (!granted) return must_not_have_changed(n, "acquire");
    line("acquire " + std::to_string(n) + " " + value + " " + std::to_string(counter) + " " + id, changes_of(n));
}

void transitions::confirmed(std::size_t n, std::string const& value, token_number token, std::string const& id, bool granted)
{
    if (!wanted_) return;
    if (!granted) return must_not_have_changed(n, "confirm");
    line("confirm " + std::to_string(n) + " " + value + " " + std::to_string(token) + " " + id, changes_of(n));
}

void transitions::extended(std::size_t n, std::string const& value, token_number token, std::string const& id, int extension, bool granted)
{
    if (!wanted_) return;
    if (!granted) return must_not_have_changed(n, "extend");
    line("extend " + std::to_string(n) + " " + value + " " + name_ + " " + std::to_string(token) + " " + id + " " +
             std::to_string(extension),
         changes_of(n));
}

void transitions::checked(std::size_t n, std::string const& value, std::string const& id)
{
    if (wanted_) line("check " + std::to_string(n) + " " + value + " " + id);
}

void transitions::checked_extension(std::size_t n, std::string const& value, std::string const& id, int extension)
{
    if (wanted_) line("check_extension " + std::to_string(n) + " " + value + " " + name_ + " " + id + " " + std::to_string(extension));
}

void transitions::begins(std::string const& value, token_number block)
{
    if (wanted_) line("begin " + value + " " + std::to_string(block) + " " + std::to_string(maxttl_ms) + " " + name_);
}

void transitions::binds(std::string const& value, std::size_t n, std::string const& id)
{
    if (wanted_) line("bind " + value + " " + std::to_string(n) + " " + id);
}

void transitions::decides(std::string const& value, token_number token, std::array<token_number, node_count> const& counters)
{
    if (!wanted_) return;
    std::string told;
    for (std::size_t i = 0; i < counters.size(); ++i)
        if (counters[i] != 0) told += " " + std::to_string(i) + ":" + std::to_string(counters[i]);
    line("decide " + value + " " + std::to_string(token) + told);
}

void transitions::completes(std::string const& value, token_number first, token_number last, std::array<bool, node_count> const& confirmed)
{
    if (!wanted_) return;
    line("completes " + value + numbers(confirmed));
    line("holds " + value + " " + std::to_string(first) + " " + std::to_string(last));
}

void transitions::gives_up(std::string const& value)
{
    if (wanted_ && over_.insert(value).second) line("gives_up " + value);
}

void transitions::asks_to_extend(int extension, std::string const& value, token_number token)
{
    if (wanted_) line("asks_to_extend " + std::to_string(extension) + " " + value + " " + std::to_string(token));
}

void transitions::is_extended(int extension, std::string const& value, std::array<bool, node_count> const& extended)
{
    if (wanted_) line("is_extended " + std::to_string(extension) + " " + value + numbers(extended));
}

void transitions::marked(std::size_t n, std::string const& mark, std::string const& id, std::string const& by)
{
    if (!wanted_) return;
    line("marks " + std::to_string(n) + " " + mark + " " + id + " " + std::to_string(drains_++) + " " + by + " -", changes_of(n));
}

// The record's text begins with its id. Without a high-water mark it is no admission.
void transitions::reads(std::size_t n, std::string const& by, words const& facts)
{
    if (!wanted_) return;
    must_not_have_changed(n, "inspect");
    std::string const& id = facts.at(0);
    bool const says_admitted = !facts.at(5).empty() && facts.at(4).starts_with(id);
    line("reads " + std::to_string(n) + " " + by + " " + id + " " + (says_admitted ? id : "-") + " " + known_[n].mark + " " +
         std::to_string(known_[n].high_water) + " " + std::to_string(known_[n].max_ttl));
}

void transitions::sends_an_admission(std::size_t n, std::string const& by, std::string const& id, std::string const& mark,
                                     token_number base, std::vector<std::pair<std::size_t, token_number>> const& read)
{
    if (!wanted_) return;
    std::string told;
    for (auto const& [node, high_water] : read) told += " " + std::to_string(node) + ":" + std::to_string(high_water);
    line("sends_an_admission " + std::to_string(n) + " " + by + " " + id + " " + mark + " " + std::to_string(base) + " " +
         std::to_string(maxttl_ms) + told);
}

void transitions::admitted(std::size_t n, std::string const& id, std::string const& mark, token_number base, bool granted)
{
    if (!wanted_) return;
    if (!granted) return must_not_have_changed(n, "admit");
    line("is_admitted " + std::to_string(n) + " " + id + " " + mark + " " + std::to_string(base) + " " + std::to_string(maxttl_ms),
         changes_of(n));
}

}  // namespace redlock::fencing
