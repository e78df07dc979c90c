#include "cli/dashboard/node_watch.hpp"

#include "cli/doctor/doctor_group.hpp"
#include "cli/doctor/doctor_probes.hpp"
#include "cli/servers/node_link.hpp"
#include "cli/servers/set_views.hpp"
#include "protocol/keys.hpp"

#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <string>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

std::vector<words> questions_to(node_address const& node, bool may_write)
{
    std::vector<words> all{{"INFO", "all"},
                           {"GET", std::string{detail::node_record_key}},
                           {"EXISTS", std::string{detail::high_water_key}},
                           {"GET", std::string{detail::set_record_key}}};
    if (may_write) all.push_back(trial_of_writing());
    if (auto trial = trial_of_waiting(node); !trial.empty()) all.push_back(std::move(trial));
    return all;
}

// What every lock needs: a user who may not do it either is one who only looks, and shows nothing of those who lock.
words trial_of_locking() { return {"EVALSHA", std::string(40, '0'), "0"}; }

void read_facts(doctor_probe& into, answers const& a)
{
    if (!a.ok()) {
        into.why = a.why;
        into.problem = a.problem;
        return;
    }
    auto const& info = a.replies[0];
    (info.is_error() ? into.info_refused : into.info) = info.text;
    if (a.replies[1].is_text()) into.record = a.replies[1].text;
    into.has_high_water = a.replies[2].number(0) == 1;
    into.set = set_text_of(a.replies[3]);
}

}  // namespace

struct node_watch::watched {
    node_link link;
    asio::steady_timer timer;
    node_address address;
    bool may_write{true};  // until a server says that its user may not: each refusal would be in its ACL LOG
    std::string name{address.to_string()};
};

struct node_watch::state : std::enable_shared_from_this<state> {
    std::deque<watched> nodes;
    std::chrono::milliseconds interval;
    std::chrono::milliseconds timeout;
    handler tell;
    bool ended{false};

    void look(std::size_t node)
    {
        nodes[node].link.ask({{"TIME"}}, timeout, [self = shared_from_this(), node](answers const& a) {
            if (self->ended) return;
            doctor_probe probe;
            probe.node = self->nodes[node].name;
            probe.why = a.why;
            probe.problem = a.problem;
            if (!a.ok()) return self->report_and_wait(node, probe);
            if (auto const sample = sample_of(a)) probe.clock.push_back(*sample);
            self->ask_for_facts(node, std::move(probe));
        });
    }

    void ask_for_facts(std::size_t node, doctor_probe probe)
    {
        auto const all = questions_to(nodes[node].address, nodes[node].may_write);
        nodes[node].link.ask(all, timeout, [self = shared_from_this(), node, probe = std::move(probe)](answers const& a) mutable {
            if (self->ended) return;
            read_facts(probe, a);
            auto& n = self->nodes[node];
            if (a.ok() && n.may_write) {
                probe.takes_no_writes = why_no_writes(a.replies[4]);
                n.may_write = !is_refusal(a.replies[4]);
            }
            if (a.ok() && n.address.sentinel) probe.group = examine_group(n.address, n.link.group(), probe.info);
            bool const waits = !trial_of_waiting(self->nodes[node].address).empty();
            if (waits && a.ok() && is_refusal(a.replies.back()))
                return self->look_who_is_refused(node, std::move(probe), a.replies.back().text);
            self->report_and_wait(node, probe);
        });
    }

    void look_who_is_refused(std::size_t node, doctor_probe probe, std::string const& said)
    {
        auto const tell_of = [self = shared_from_this(), node, probe = std::move(probe), said](answers const& a) mutable {
            if (self->ended) return;
            if (a.ok() && !is_refusal(a.replies.front())) probe.refused.push_back(refusal_of_waiting(self->nodes[node].address, said));
            self->report_and_wait(node, probe);
        };
        nodes[node].link.ask({trial_of_locking()}, timeout, tell_of);
    }

    void report_and_wait(std::size_t node, doctor_probe const& probe)
    {
        tell(node, probe);
        auto& timer = nodes[node].timer;
        timer.expires_after(interval);
        timer.async_wait([self = shared_from_this(), node](error_code ec) {
            if (!ec && !self->ended) self->look(node);
        });
    }
};

node_watch::node_watch(asio::io_context& io, config const& settings, std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
                       handler tell)
    : state_{std::make_shared<state>()}
{
    state_->interval = interval;
    state_->timeout = timeout;
    state_->tell = std::move(tell);
    auto own = settings;
    own.connect_timeout = timeout;
    for (node_address const& address : own.nodes)
        state_->nodes.push_back({node_link{io.get_executor(), address, own}, asio::steady_timer{io}, address});
    for (std::size_t node = 0; node < state_->nodes.size(); ++node) state_->look(node);
}

node_watch::~node_watch()
{
    state_->ended = true;
    for (watched& n : state_->nodes) {
        n.link.close();
        n.timer.cancel();
    }
}

}  // namespace redlock::cli
