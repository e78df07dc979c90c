#include "testing/memory_node.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace redlock::testing {

using detail::command;
using detail::reply;
using detail::verb;

// The node that the core sees; it passes everything on to the memory_node.
class memory_node::front_node final : public detail::node {
public:
    front_node(memory_node& of, asio::any_io_executor executor) : of_{of}
    {
        of_.owned = true;
        of_.executor_ = executor;
        of_.timer_ = std::make_unique<virtual_timer>(std::move(executor));
    }
    ~front_node() override
    {
        of_.owned = false;
        of_.timer_.reset();
        of_.in_flight_.clear();
        of_.watched_.clear();
        of_.executor_ = {};
    }

    std::string const& name() const noexcept override { return of_.server_->name; }

    void start(std::size_t index, std::weak_ptr<detail::node_listener> listener) override
    {
        of_.index_ = index;
        of_.listener_ = std::move(listener);
        of_.started = true;
        if (of_.connects_late) return;
        if (!of_.refuse_connections) return of_.connect();
        if (auto const l = of_.listener_.lock()) l->on_down(index, errc::node_unreachable, "refused");
    }

    void stop() override
    {
        of_.ending_ = true;
        if (of_.connected_) of_.cut();
        asio::post(of_.executor_, [listener = of_.listener_, index = of_.index_] {
            if (auto const l = listener.lock()) l->on_stopped(index);
        });
    }

    void reject(error_code why, std::string words) override { of_.cut(true, why, words); }

    void exec(detail::batch const& work, std::string_view id, std::vector<reply>& replies, detail::exec_handler handler) override
    {
        of_.exec(work, id, replies, std::move(handler));
    }

private:
    memory_node& of_;
};

memory_node::memory_node(std::string name, std::chrono::milliseconds max_ttl) : memory_node{std::make_shared<server>()}
{
    server_->name = std::move(name);
    redis_model& memory = server_->memory;
    memory.id = server_->name + "-1";
    memory.record = redis_model::node_record{memory.id, 0, max_ttl, {}};
    memory.high_water = 0;
    memory.on_change = [of = server_.get()](std::string_view key) {
        for (memory_node* const each : of->connected) each->on_change(key);
    };
}

memory_node::memory_node(std::shared_ptr<server> of) : server_{std::move(of)} { server_->connected.push_back(this); }

memory_node::~memory_node() { std::erase(server_->connected, this); }

std::unique_ptr<memory_node> memory_node::another() { return std::unique_ptr<memory_node>{new memory_node{server_}}; }

void memory_node::restart_empty()
{
    flush_all();
    restart_with_all();
}

void memory_node::restart_with_all() { memory().id = server_->name + "-" + std::to_string(++server_->lives); }

std::unique_ptr<detail::node> memory_node::front(asio::any_io_executor executor)
{
    return std::make_unique<front_node>(*this, std::move(executor));
}

void memory_node::connect()
{
    connected_ = true;
    if (auto const l = listener_.lock()) l->on_up(index_, of_server, memory().facts());
}

void memory_node::exec(detail::batch const& work, std::string_view id, std::vector<reply>& replies, detail::exec_handler handler)
{
    ++batches;
    replies.assign(work.commands.size(), {});
    auto p = std::make_shared<pending>();
    p->work = &work;
    p->replies = &replies;
    p->handler = std::move(handler);
    p->arrives = virtual_clock::now() + there;
    if (lingers) p->arrives += lingers();
    if (!in_flight_.empty()) p->arrives = std::max(p->arrives, in_flight_.back()->arrives);  // no request overtakes another
    if (works > duration::zero()) {
        busy_until_ = std::max(busy_until_, p->arrives) + works * work.commands.size();
        p->arrives = busy_until_;
    }
    p->id = id;
    p->strings.reserve(5 * work.commands.size());
    // The sender may be gone when the commands are executed, so copy all that they refer to.
    for (command const& c : work.commands) {
        auto& copy = p->copies.emplace_back(c);
        command::each_text(copy, [&](std::string_view& text) { text = p->strings.emplace_back(text); });
        copy.others = p->others.emplace_back(c.others.begin(), c.others.end());
    }
    in_flight_.push_back(std::move(p));
    pump();
}

// Executes the requests that have arrived by now, and delivers the answers that are back by now, strictly in order.
void memory_node::pump()
{
    if (!timer_) return;
    auto const now = virtual_clock::now();
    if (says_expiry && !stopped_ && !watched_.empty()) memory().expire(wall());
    for (auto const& p : in_flight_) {
        if (stopped_ || p->arrives > now) break;
        if (!p->executed) execute(*p);
    }
    while (!in_flight_.empty() && in_flight_.front()->executed && in_flight_.front()->arrives + back <= now && !stopped_) {
        auto const p = in_flight_.front();
        in_flight_.pop_front();
        if (p->push) {
            if (auto const l = listener_.lock()) l->on_changed(index_, *p->push);
            continue;
        }
        *p->replies = std::move(p->answers);
        std::move(p->handler)(error_code{});
    }
    set_timer();
}

time_point memory_node::wall() const { return virtual_clock::now() + server_->clock_ahead; }

void memory_node::set_clock(duration by)
{
    server_->clock_ahead += by;
    for (memory_node* const each : server_->connected) each->pump();
}

void memory_node::say_time(time_point sent)
{
    if (auto const l = listener_.lock())
        l->on_time(index_, std::chrono::duration_cast<quorum::wall_time>(wall().time_since_epoch()), sent, virtual_clock::now());
}

void memory_node::set_timer()
{
    if (stopped_ || !timer_) return;
    auto wake = time_point::max();
    if (!in_flight_.empty() && in_flight_.front()->executed) wake = in_flight_.front()->arrives + back;
    for (auto const& p : in_flight_)
        if (!p->executed) wake = std::min(wake, p->arrives);
    for (std::string const& key : watched_)
        if (auto const* const e = memory().stored(key); e && e->expires && says_expiry)
            wake = std::min(wake, memory().gone_at(*e) - server_->clock_ahead);
    if (wake == time_point::max()) return timer_->cancel();
    timer_->expires_at(std::max(wake, virtual_clock::now()));
    timer_->async_wait([this](error_code ec) {
        if (!ec) pump();
    });
}

// Redis tells a change once, to all clients that watch the key except the one that made the change. When all keys go, it tells every client.
void memory_node::on_change(std::string_view key)
{
    if (key.empty()) {
        watched_.clear();
        return say(key);
    }
    auto const it = watched_.find(key);
    if (it == watched_.end()) return;
    watched_.erase(it);
    if (!own_command_) say(key);
}

void memory_node::say(std::string_view key)
{
    if (!connected_ || !watches || loses_pushes) return;
    auto const p = std::make_shared<pending>();
    p->push = key;
    p->arrives = virtual_clock::now();
    p->executed = true;
    in_flight_.insert(std::find_if(in_flight_.begin(), in_flight_.end(), [](auto const& each) { return !each->executed; }), p);
    set_timer();
}

void memory_node::watch(command const& c)
{
    watched_.emplace(c.key);
    watched_.insert(c.others.begin(), c.others.end());
}

void memory_node::go_on()
{
    stopped_ = false;
    // The requests that waited are executed now, so their answers start on their way now.
    for (auto const& p : in_flight_) p->arrives = std::max(p->arrives, virtual_clock::now());
    pump();
}

void memory_node::cut(bool deliver_what_was_sent, error_code why, std::string const& words)
{
    connected_ = false;
    watched_.clear();
    auto const lost = std::exchange(in_flight_, {});
    for (auto const& p : lost)
        if (deliver_what_was_sent && !p->executed) execute(*p);
    if (auto const l = listener_.lock()) l->on_down(index_, why, words);
    for (auto const& p : lost)
        if (!p->push) std::move(p->handler)(errc::node_unreachable);
}

void memory_node::execute(pending& p)
{
    p.executed = true;
    for (command const& c : p.copies) p.answers.push_back(execute(c, p.id));
    if (tells_time && !p.answers.empty())
        p.answers.back().server_time = std::chrono::duration_cast<quorum::wall_time>(wall().time_since_epoch());
    if (memory().is_still(p.id)) return;
    for (std::size_t i = 0; i < p.copies.size(); ++i)
        if (p.copies[i].votes_with_tokens()) p.answers[i] = reply{vote::failed, errc::node_not_admitted, {}};
}

reply memory_node::execute(command const& c, std::string_view learned)
{
    received.push_back({c.what, std::string{c.key}, std::string{c.value}, virtual_clock::now()});
    if (always) return *always;
    own_command_ = true;
    auto answer = memory().execute(c, wall(), learned);
    own_command_ = false;
    if (c.what != verb::watch || answer.vote != vote::granted) return answer;
    answer.watching = watches && connected_;
    if (answer.watching) watch(c);
    return answer;
}

std::optional<std::string> memory_node::get(std::string const& key)
{
    auto const* const found = memory().find(key, wall());
    return found ? std::optional{found->value} : std::nullopt;
}

void memory_node::set(std::string const& key, std::string const& value, std::optional<duration> ttl)
{
    memory().set(key, value, ttl, wall());
}

std::size_t memory_node::keys() { return memory().entries(wall()).size(); }

duration memory_node::pttl(std::string const& key)
{
    auto const* const found = memory().find(key, wall());
    return found && found->expires ? *found->expires - wall() : duration::zero();
}

std::size_t memory_node::count(verb what) const
{
    return static_cast<std::size_t>(std::count_if(received.begin(), received.end(), [&](auto const& r) { return r.what == what; }));
}

}  // namespace redlock::testing
