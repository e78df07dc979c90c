// A link: how its connections begin, fall silent, break and end.
#include "link.hpp"

#include "transition_log.hpp"
#include "universe.hpp"

#include "protocol/group_binding.hpp"

#include <algorithm>
#include <utility>

namespace redlock::simulation {

using detail::verb;

std::size_t link::bytes(command_copy const& c) noexcept
{
    // RESP: a SET with five arguments, or an EVALSHA with the 40 digits of a script.
    if (c.what.what == verb::watch) return 58 * (1 + c.others.size()) + c.key().size();  // with CLIENT CACHING YES
    return (c.is_script() ? 88 : 52) + c.key().size() + c.value().size();
}

void link::cut(error_code why, std::string const& words)
{
    silent_ = false;
    if (state_ != state::up) return;
    ++connection_;
    ++universe_.covered->cut;
    state_ = state::down;

    // Of what had not arrived yet, everything up to some byte still does.
    auto& chance = universe_.chance;
    auto const lost = std::exchange(line_, {});
    forget_watches();
    auto const scripted = std::exchange(next_cut_leaves, {});
    std::size_t requests = 0;
    std::size_t total = 0;
    for (auto const& m : lost)
        if (!m->arrived)
            for (auto const& c : m->commands) total += bytes(c);
    std::size_t left = chance.one_in(3) ? total : chance.below(total + 1);
    duration when = universe_.now();
    for (auto const& m : lost) {
        if (universe_.records) universe_.records->cut_off(m->record, universe_.now());
        if (m->arrived) continue;
        if (scripted) {
            if (requests < scripted->requests) execute_as_ghost(m, m->commands.size(), scripted->arrive + duration{requests});
            ++requests;
            continue;
        }
        std::size_t complete = 0;
        while (complete < m->commands.size() && bytes(m->commands[complete]) <= left) left -= bytes(m->commands[complete++]);
        if (complete < m->commands.size()) left = 0;
        if (complete == 0) break;
        ++universe_.covered->ghost;
        when = std::max(when, m->arrives) + chance.scaled(universe_.weather.max_ghost_delay);
        execute_as_ghost(m, complete, when);
    }

    bool const down_first = chance.one_in(2);
    tell([listener = listener_, index = index_, lost, down_first, why, words] {
        auto const l = listener.lock();
        if (l && down_first) l->on_down(index, why, words);
        for (auto const& m : lost) std::move(m->handler)(errc::node_unreachable);
        if (l && !down_first) l->on_down(index, why, words);
    });
    try_again();
}

bool link::quiet() const noexcept
{
    return std::all_of(line_.begin(), line_.end(), [](message_ptr const& m) {
        return std::all_of(m->commands.begin(), m->commands.end(), [](command_copy const& c) { return c.what.what == verb::inspect; });
    });
}

void link::go_silent(bool gives_up)
{
    if (!in_use() || silent_) return;
    silent_ = true;
    ++universe_.covered->silent;
    if (!gives_up) return;
    auto const after = universe_.chance.between(1ms, universe_.weather.max_notices_after);
    universe_.after(after, [this, connection = connection_] {
        if (silent_ && connection == connection_) cut();
    });
}

void link::heal()
{
    unreachable = false;
    extra_delay = {};
    if (std::exchange(silent_, false)) {
        universe_.after(delay(), [this] { deliver_requests(); });
        universe_.after(delay(), [this] { deliver_answers(); });
    }
    try_again();
}

void link::try_again()
{
    if (state_ != state::down && state_ != state::connecting) return;
    connect_after(universe_.chance.between(1us, universe_.weather.max_reconnect));
}

void link::connect_after(duration d)
{
    auto const attempt = ++connection_;
    universe_.after(d, [this, attempt] { connected(attempt); });
}

// Whoever makes a server or a link usable again calls try_again().
void link::connected(std::uint64_t attempt)
{
    if (attempt != connection_ || (state_ != state::down && state_ != state::connecting)) return;
    if (!to_.running() || unreachable) {
        if (state_ == state::connecting) {
            state_ = state::down;
            tell([listener = listener_, index = index_] {
                if (auto const l = listener.lock()) l->on_down(index, errc::node_unreachable, "refused");
            });
        }
        return;
    }
    state_ = state::up;
    silent_ = false;
    last_arrival_ = last_answer_ = universe_.now();
    to_.load_scripts();
    if (universe_.transitions) universe_.transitions->catch_up(to_);
    auto facts = to_.memory.facts(to_.time());
    if (acknowledgements) detail::group_binding{*acknowledgements}.apply(facts);
    tell([listener = listener_, index = index_, facts = std::move(facts)] {
        if (auto const l = listener.lock()) l->on_up(index, {}, facts);
    });
}

void link::stop()
{
    cut();
    state_ = state::stopped;
    tell([listener = listener_, index = index_] {
        if (auto const l = listener.lock()) l->on_stopped(index);
    });
}

// The core is gone. What is on its way belongs to nobody from now on.
void link::abandon()
{
    state_ = state::stopped;
    ++connection_;
    auto const gone = std::exchange(line_, {});
    for (auto const& m : gone) {
        auto const handler = std::move(m->handler);
        if (!m->arrived && m->arrives > universe_.now()) execute_as_ghost(m, m->commands.size(), m->arrives);
    }
    forget_watches();
    listener_.reset();
    strand_ = {};
}

}  // namespace redlock::simulation
