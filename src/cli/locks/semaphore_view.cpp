#include "cli/locks/semaphore_view.hpp"

#include "protocol/keys.hpp"
#include "quorum/slot_set.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <system_error>

namespace redlock::cli {

namespace {

enum number_question : std::size_t { kept_number, kept_for };
static_assert(kept_for + 1 == questions_per_number);

constexpr char before_slot = '#';

template <class Number>
std::optional<Number> whole_number(std::string_view digits)
{
    Number n{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, n);
    return error == std::errc{} && stop == end && !digits.empty() ? std::optional{n} : std::nullopt;
}

// Whether so many nodes show it to be free that a majority could give it.
bool is_free(slot_view const& slot)
{
    auto const free = [](key_view const& k) { return k.problem.empty() && !k.present; };
    return static_cast<std::size_t>(std::count_if(slot.lock.nodes.begin(), slot.lock.nodes.end(), free)) >= slot.lock.majority;
}

std::size_t count_of_state(std::vector<slot_view> const& slots, lock_state state)
{
    auto const is = [state](slot_view const& s) { return s.lock.state == state; };
    return static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), is));
}

}  // namespace

std::size_t semaphore_view::held() const { return count_of_state(slots, lock_state::held); }

std::size_t semaphore_view::held_unclearly() const { return count_of_state(slots, lock_state::unknown); }

std::size_t semaphore_view::held_above() const
{
    auto const is = [this](slot_view const& s) { return s.lock.state == lock_state::held && is_above(s); };
    return static_cast<std::size_t>(std::count_if(slots.begin(), slots.end(), is));
}

std::string slot_name(std::string const& semaphore, std::uint32_t number) { return semaphore + before_slot + std::to_string(number); }

std::optional<std::pair<std::string, std::uint32_t>> slot_of(std::string const& name)
{
    auto const at = name.rfind(before_slot);
    if (at == std::string::npos || at == 0) return std::nullopt;
    auto const number = whole_number<std::uint32_t>(std::string_view{name}.substr(at + 1));
    auto const semaphore = name.substr(0, at);
    // "#03" and the like are names of other locks.
    if (!number || *number >= quorum::max_slots || slot_name(semaphore, *number) != name) return std::nullopt;
    return std::pair{semaphore, *number};
}

std::vector<words> questions_about_number(std::string const& key)
{
    auto const kept = key + std::string{detail::permits_suffix};
    return {{"GET", kept}, {"PTTL", kept}};
}

std::vector<words> questions_about_semaphore(detail::key_format const& keys, std::string const& name)
{
    auto all = questions_about_number(keys.key_of(name));
    for (std::uint32_t slot = 0; slot < quorum::max_slots; ++slot)
        for (words& w : questions_about(keys.key_of(slot_name(name, slot)), value_part::beginning)) all.push_back(std::move(w));
    return all;
}

number_view read_number(answers const& from, std::size_t first)
{
    number_view n;
    if (!from.ok() || from.replies.size() < first + questions_per_number) {
        n.problem = from.ok() ? "it has not answered all of it" : from.problem;
        return n;
    }
    reply const& kept = from.replies[first + kept_number];
    if (kept.is_error()) {
        n.problem = "NAME:permits cannot be read: " + kept.text;
        return n;
    }
    if (!kept.is_text()) return n;
    std::string_view const text{kept.text};
    auto const space = std::min(text.find(' '), text.size());
    auto const version = whole_number<std::uint64_t>(text.substr(0, space));
    auto const permits = whole_number<std::uint32_t>(text.substr(std::min(space + 1, text.size())));
    if (!version || !permits || *permits == 0) {
        n.problem = "NAME:permits holds something else";
        return n;
    }
    n.permits = permits;
    n.version = *version;
    n.ttl_ms = from.replies[first + kept_for].number(-1);
    return n;
}

semaphore_view judge_semaphore(std::string name, std::vector<number_view> numbers, std::vector<slot_view> slots)
{
    semaphore_view view;
    view.name = std::move(name);
    view.nodes = std::move(numbers);
    view.majority = quorum::majority(view.nodes.size());
    for (number_view const& n : view.nodes) {
        if (!n.problem.empty()) continue;
        ++view.answered;
        if (!n.permits || n.version <= view.version) continue;
        view.version = n.version;
        view.permits = n.permits;
    }
    auto const keeps = [&](number_view const& n) { return n.permits && n.permits == view.permits; };
    view.kept_on = static_cast<std::size_t>(std::count_if(view.nodes.begin(), view.nodes.end(), keeps));
    for (slot_view& slot : slots) {
        if (!view.is_above(slot) && is_free(slot)) ++view.free;
        if (is_anywhere(slot.lock)) view.slots.push_back(std::move(slot));
    }
    return view;
}

semaphore_view semaphore_in(std::string name, std::vector<answers> const& all)
{
    std::vector<number_view> numbers;
    for (answers const& a : all) numbers.push_back(read_number(a, 0));
    std::vector<slot_view> slots;
    for (std::uint32_t slot = 0; slot < quorum::max_slots; ++slot)
        slots.push_back({slot, view_of(slot_name(name, slot), all, questions_per_number + slot * questions_per_key)});
    return judge_semaphore(std::move(name), std::move(numbers), std::move(slots));
}

semaphore_view look_at_semaphore(server_group& nodes, std::string const& name)
{
    return semaphore_in(name, nodes.ask(questions_about_semaphore(nodes.keys(), name)));
}

std::vector<std::vector<number_view>> numbers_of(server_group& nodes, std::vector<std::string> const& names,
                                                 std::function<bool(std::size_t node)> const& asked)
{
    std::vector<std::vector<number_view>> all(names.size());
    if (names.empty()) return all;
    std::vector<words> questions;
    for (std::string const& name : names)
        for (words& w : questions_about_number(nodes.key_of(name))) questions.push_back(std::move(w));
    auto const said = nodes.ask_each([&](std::size_t node) { return asked(node) ? questions : std::vector<words>{}; });
    for (std::size_t n = 0; n < names.size(); ++n) {
        for (answers const& a : said) all[n].push_back(read_number(a, n * questions_per_number));
        auto const keeps = [](number_view const& number) { return number.permits.has_value(); };
        if (std::none_of(all[n].begin(), all[n].end(), keeps)) all[n].clear();
    }
    return all;
}

std::vector<std::optional<semaphore_view>> look_for_semaphores(server_group& nodes, std::vector<std::string> const& names)
{
    std::vector<std::optional<semaphore_view>> found(names.size());
    auto const numbers = numbers_of(nodes, names, [](std::size_t) { return true; });
    for (std::size_t n = 0; n < names.size() && !nodes.interrupted(); ++n)
        if (!numbers[n].empty()) found[n] = look_at_semaphore(nodes, names[n]);
    return found;
}

}  // namespace redlock::cli
