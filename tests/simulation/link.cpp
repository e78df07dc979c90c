// A link: the way of a message to the server and back. What else a link does is in link_life.cpp and link_pushes.cpp.
#include "link.hpp"

#include "transition_log.hpp"
#include "universe.hpp"

#include "protocol/durability.hpp"
#include "protocol/group_binding.hpp"

#include <algorithm>
#include <utility>

namespace redlock::simulation {

using detail::reply;
using detail::verb;

class link::front_node final : public detail::node {
public:
    explicit front_node(link& of) : of_{of} {}
    ~front_node() override { of_.abandon(); }

    std::string const& name() const noexcept override { return of_.name_; }

    void start(std::size_t index, std::weak_ptr<detail::node_listener> listener) override
    {
        of_.index_ = index;
        of_.listener_ = std::move(listener);
        of_.state_ = state::connecting;
        of_.connect_after(of_.universe_.chance.scaled(of_.universe_.weather.max_reconnect));
    }

    void stop() override { of_.stop(); }

    void reject(error_code why, std::string words) override { of_.cut(why, words); }

    void exec(detail::batch const& work, std::string_view id, std::vector<reply>& replies, detail::exec_handler handler) override
    {
        of_.exec(work, id, replies, std::move(handler));
    }

private:
    link& of_;
};

link::link(universe& in, process& from, server& to)
    : universe_{in}, process_{from}, to_{to}, client_{from.index()}, name_{"node" + std::to_string(to.index())}
{
    to.add_link(*this);
}

link::~link() = default;

std::unique_ptr<detail::node> link::front(asio::any_io_executor strand)
{
    strand_ = std::move(strand);
    return std::make_unique<front_node>(*this);
}

detail::command link::command_copy::request() const
{
    auto c = what;
    auto next = texts.begin();
    detail::command::each_text(c, [&](std::string_view& text) { text = *next++; });
    c.others = others;
    return c;
}

void link::exec(detail::batch const& work, std::string_view learned, std::vector<reply>& replies, detail::exec_handler handler)
{
    auto const m = std::make_shared<message>();
    m->commands.reserve(work.commands.size());
    for (detail::command const& c : work.commands) {
        m->commands.emplace_back(c);
        if (universe_.on_sent) universe_.on_sent(process_, c);
        if (c.what == detail::verb::climb) ++universe_.climbs_unheard[{client_, std::string{c.key}}];
        if (universe_.transitions) universe_.transitions->sent(process_, to_, c, learned, state_ == state::up);
    }
    m->learned = learned;
    m->has_look = work.votes_with_tokens();
    m->answers.resize(m->commands.size());
    replies.assign(m->commands.size(), {});
    m->replies = &replies;
    m->handler = std::move(handler);
    m->connection = connection_;
    m->number = messages_++;
    m->sent = universe_.now();
    if (universe_.records) m->record = universe_.records->sent(client_, to_.index(), universe_.now(), work, learned);
    if (state_ != state::up) {  // the core has not heard of it yet
        if (universe_.records) universe_.records->cut_off(m->record, universe_.now());
        return tell([m] { std::move(m->handler)(errc::node_unreachable); });
    }
    line_.push_back(m);
    send(m);
}

duration link::delay()
{
    auto& chance = universe_.chance;
    auto const& weather = universe_.weather;
    auto d = chance.between(weather.min_delay, weather.max_delay) + distance + extra_delay;
    if (weather.slow_percent > 0 && chance.percent(weather.slow_percent)) d += chance.scaled(weather.max_slow);
    return d;
}

void link::send(message_ptr const& m)
{
    auto const takes = next_delay_there ? *std::exchange(next_delay_there, {}) : delay();
    auto arrives = std::max(last_arrival_ + 1ns, universe_.now() + takes);
    std::size_t const parts = m->commands.size() + (m->has_look ? 1 : 0);
    if (parts > 1 && universe_.weather.apart_one_in > 0 && universe_.chance.one_in(universe_.weather.apart_one_in)) {
        // The network takes a message apart: its first commands arrive, and are executed, before the others.
        auto const first = 1 + universe_.chance.below(parts - 1);
        universe_.at(arrives, [this, m, first] {
            bool const alive = m->connection == connection_ && !silent_ && is_next(*m);
            if (alive) to_.when_it_runs([this, m, first] { execute(*m, first, m->connection != connection_); });
        });
        arrives += delay();
        if (universe_.weather.slow_percent > 0 && universe_.chance.one_in(4))
            arrives += universe_.chance.scaled(universe_.weather.max_slow);
    }
    m->arrives = last_arrival_ = arrives;
    universe_.at(arrives, [this, m] {
        if (m->connection != connection_) return;  // cut off; what of it arrives nevertheless was decided then
        m->due_there = true;
        deliver_requests();
    });
}

bool link::is_next(message const& m) const
{
    auto const first = std::find_if(line_.begin(), line_.end(), [](message_ptr const& each) { return !each->arrived; });
    return first != line_.end() && first->get() == &m;
}

// What is due gets to the server, in the order of sending.
void link::deliver_requests()
{
    while (!silent_) {
        auto const next = std::find_if(line_.begin(), line_.end(), [](message_ptr const& m) { return !m->arrived; });
        if (next == line_.end() || !(*next)->due_there) return;
        arrive(message_ptr{*next});
    }
}

void link::arrive(message_ptr const& m)
{
    m->arrived = true;
    if (universe_.records) universe_.records->arrived(m->record, universe_.now());
    to_.when_it_runs([this, m] {
        bool const alive = m->connection == connection_;
        execute(*m, m->commands.size(), !alive);
        if (!alive) return;
        auto const done = std::none_of(m->answers.begin(), m->answers.end(), [](reply const& r) { return r.vote == vote::pending; });
        if (done) {
            check_server(*m);
            note_votes(*m);
            return answer_when_durable(m);
        }
        // NOSCRIPT for some: the client loads the scripts and sends those again, and whatever watches behind them.
        for (std::size_t i = 0; i < m->commands.size(); ++i)
            if (m->commands[i].what.what == verb::watch) m->answers[i] = {};
        ++universe_.covered->noscript;
        universe_.after(delay() + delay(), [this, m] {
            if (m->connection != connection_) return;
            to_.when_it_runs([this, m] {
                if (m->connection != connection_) return;
                to_.load_scripts();
                execute(*m, m->commands.size(), false);
                check_server(*m);
                note_votes(*m);
                answer_when_durable(m);
            });
        });
    });
    if (universe_.weather.duplicate_percent > 0 && universe_.chance.percent(universe_.weather.duplicate_percent)) {
        ++universe_.covered->duplicate;
        execute_as_ghost(m, m->commands.size(), universe_.now() + universe_.chance.scaled(universe_.weather.max_ghost_delay));
    }
}

void link::execute(message& m, std::size_t upto, bool of_nobody)
{
    for (std::size_t i = 0; i < upto; ++i) {
        auto const& c = m.commands[i];
        if (m.answers[i].vote != vote::pending || (c.is_script() && !to_.knows_scripts())) continue;
        own_command_ = !of_nobody;
        if (universe_.transitions) universe_.transitions->next(of_nobody ? std::nullopt : std::optional{client_}, m.sent);
        m.answers[i] = to_.execute(c.request(), m.learned, of_nobody);
        own_command_ = false;
        if (c.what.what == verb::watch && m.answers[i].vote == vote::granted && !of_nobody && may_watch) {
            m.answers[i].watching = true;
            watch(c);
        }
        universe_.mix_into_fingerprint(static_cast<std::uint64_t>(m.answers[i].vote) + 16 * to_.index() + 256 * m.answers[i].counter);
    }
}

// The end of a message: what votes with tokens, votes only if it is the server that the client has learned.
void link::check_server(message& m)
{
    if (!m.has_look || to_.memory.is_still(m.learned)) return;
    for (std::size_t i = 0; i < m.commands.size(); ++i) {
        if (!m.commands[i].what.votes_with_tokens()) continue;
        if (m.answers[i].vote == vote::granted) ++universe_.covered->vote_dropped;
        m.answers[i] = reply{vote::failed, errc::node_not_admitted, "it is another server now, or no master"};
    }
}

void link::note_votes(message const& m)
{
    if (!universe_.transitions) return;
    universe_.transitions->catch_up(to_);
    for (std::size_t i = 0; i < m.commands.size(); ++i)
        if (m.commands[i].what.votes_with_tokens() && m.answers[i].vote == vote::granted)
            universe_.transitions->clients().counted(to_, m.commands[i].request(), m.learned, m.sent);
}

detail::batch link::work_of(message const& m)
{
    detail::batch work;
    for (command_copy const& c : m.commands) work.commands.push_back(c.request());
    return work;
}

// As durability_waits does, on another connection: a small write behind the votes, and the replicas' acknowledgements of it.
void link::answer_when_durable(message_ptr const& m)
{
    if (acknowledgements.value_or(0) == 0) return answer(m);
    auto const work = work_of(*m);
    if (!detail::has_to_be_durable(work, m->answers)) return answer(m);
    wait_for_replicas(m, universe_.now() + detail::longest_wait_of(work));
}

// The replicas may always be late here, also those that are cut off.
void link::wait_for_replicas(message_ptr const& m, duration until)
{
    auto const concluded = [this, m, until](bool enough) {
        if (m->connection != connection_) return;
        if (!enough && universe_.now() < until) {
            ++universe_.covered->extension_waited_on;
            return wait_for_replicas(m, until);
        }
        if (!enough) {
            detail::take_back(work_of(*m), m->answers, {errc::not_durable, "too few replicas acknowledged"});
            ++universe_.covered->not_durable;
        }
        answer(m);
    };
    universe_.after(delay() + delay(), [this, m, concluded] {
        if (m->connection != connection_) return;
        to_.when_it_runs([this, m, concluded] {
            if (m->connection == connection_) to_.replicate(*acknowledgements, universe_.weather.replication_patience, concluded);
        });
    });
}

void link::answer(message_ptr const& m)
{
    if (!m->answers.empty()) m->answers.back().server_time = std::chrono::duration_cast<quorum::wall_time>(to_.time().time_since_epoch());
    if (universe_.records) universe_.records->answered(m->record, universe_.now(), m->answers);
    auto const takes = next_delay_back ? *std::exchange(next_delay_back, {}) : delay();
    m->answered = true;
    send_back(m, takes);
    if (said_meanwhile_.empty()) return;
    for (auto const& said : std::exchange(said_meanwhile_, {}))
        if (said->connection == connection_) send_back(said, delay());
}

void link::send_back(message_ptr const& m, duration takes)
{
    last_answer_ = std::max(last_answer_ + 1ns, universe_.now() + takes);
    answers_.push_back(m);
    universe_.at(last_answer_, [this, m] {
        if (m->connection != connection_) return;
        m->due_back = true;
        deliver_answers();
    });
}

// What is due gets back to the client, in the order of answering.
void link::deliver_answers()
{
    while (!silent_ && !answers_.empty() && answers_.front()->due_back) {
        auto const m = std::move(answers_.front());
        answers_.erase(answers_.begin());
        deliver(m);
    }
}

void link::deliver(message_ptr const& m)
{
    if (m->changed) {
        ++universe_.covered->push;
        if (universe_.records)
            universe_.records->say(client_, universe_.now(),
                                   name_ + " says: " + (m->changed->empty() ? "all keys" : *m->changed) + " changed");
        return tell([listener = listener_, index = index_, m] {
            if (auto const l = listener.lock()) l->on_changed(index, *m->changed);
        });
    }
    if (universe_.records) universe_.records->delivered(m->record, universe_.now());
    line_.erase(std::find(line_.begin(), line_.end(), m));
    tell([this, m] {
        for (std::size_t i = 0; universe_.transitions && i < m->commands.size(); ++i)
            universe_.transitions->clients().heard(client_, to_, m->commands[i].request(), m->answers[i], m->sent);
        for (command_copy const& each : m->commands)
            if (each.what.what == verb::climb) --universe_.climbs_unheard[{client_, each.key()}];
        if (acknowledgements) detail::group_binding{*acknowledgements}.apply(m->answers);
        *m->replies = std::move(m->answers);
        std::move(m->handler)(error_code{});
    });
}

// A message executed without a connection that could bring back an answer.
void link::execute_as_ghost(message_ptr const& m, std::size_t upto, duration when)
{
    universe_.at(when, [this, m, upto] {
        to_.when_it_runs([this, m, upto] {
            if (universe_.records) universe_.records->haunted(m->record, universe_.now());
            if (universe_.transitions) universe_.transitions->next(std::nullopt, m->sent);
            for (std::size_t i = 0; i < upto; ++i)
                if (auto const& c = m->commands[i]; !c.is_script() || to_.knows_scripts()) to_.execute(c.request(), m->learned, true);
        });
    });
}

}  // namespace redlock::simulation
