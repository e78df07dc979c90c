#include "belief_world.hpp"

#include "link.hpp"
#include "process.hpp"
#include "user.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace redlock::simulation {

belief_world::belief_world(std::uint64_t seed, coverage& covered, std::string kind, std::function<void(std::string const&)> say)
    : covered_{covered}, say_{std::move(say)}, u_{seed}, kind_{std::move(kind)}
{
    u_.covered = &covered;
    u_.after_step = [this] { beliefs_.look(); };
    u_.on_violation = [this](std::string const& what) { violation(what); };
}

void belief_world::end()
{
    u_.destroy_processes();
    people_.clear();
}

belief_world::person& belief_world::add_person(std::size_t process, std::shared_ptr<client> with, duration begins)
{
    return people_.emplace_back(person{process, std::move(with), begins});
}

result belief_world::run()
{
    for (auto& p : people_)
        for (std::size_t n = 1 + chance_.below(2); n > 0; --n) send_to_work(p);
    if (!u_.run_until([this] { return violation_ || at_work_ == 0; }, limit()))
        violation("somebody still waits for a lock, long after all faults have ended");
    if (!violation_) stop_clients();
    return {violation_, u_.fingerprint(), u_.steps(), u_.now()};
}

void belief_world::plan_pauses()
{
    for (std::size_t n = chance_.below(3); n > 0; --n) {
        auto const d = chance_.scaled(2 * ttl_) + 1us;
        u_.at(chance_.between(0ns, horizon_), [this, who = chance_.below(people_.size()), d, whole = chance_.one_in(2)] {
            auto& p = *u_.processes()[people_[who].process];
            whole ? u_.suspend(p, d) : u_.pause(p, d);
        });
    }
}

void belief_world::end_faults()
{
    u_.pause_one_in = 0;
    u_.weather.slow_percent = 0;
    u_.weather.duplicate_percent = 0;
    for (auto const& l : u_.links()) l->heal();
}

std::string belief_world::problems_of(person const& who)
{
    std::string text;
    for (auto const& n : who.with->status().nodes)
        if (n.last_error || !n.admission_text.empty()) text += "; " + n.node + ": " + n.last_error_text + " (" + n.admission_text + ")";
    return text;
}

void belief_world::send_to_work(person& who)
{
    ++at_work_;
    asio::co_spawn(u_.processes()[who.process]->get_executor(), work(who), [this](std::exception_ptr failure) {
        --at_work_;
        if (failure) violation("a user was surprised");
    });
}

asio::awaitable<void> belief_world::work(person& who)
{
    if (who.begins > u_.now()) {
        auto begin = sleep(who.begins - u_.now());
        co_await std::move(begin);
    }
    bool last = false;
    while (!last && !violation_) {
        last = is_last_round();
        auto options = usual_;
        options.acquire_timeout = last ? 100 * ttl_ : std::chrono::milliseconds{ttl_ * static_cast<int>(1 + chance_.below(4))};
        std::string const name = names_[chance_.below(names_.size())];
        auto const before = complete_[name];
        lock const resource{*who.with, name, options};
        auto acquiring = resource.acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, held] = co_await std::move(acquiring);
        if (!ec) {
            if (held.token() <= before) violation("a token is not larger than one that was complete before the attempt: " + name);
            complete_[name] = std::max(complete_[name], held.token());
            auto using_it = hold(who, name, held);
            co_await std::move(using_it);
        } else if (last && must_acquire(who)) {
            violation("client " + std::to_string(who.process) +
                      " could not acquire a lock, long after all faults had ended: " + ec.message() + problems_of(who));
        }
        auto pause = sleep(chance_.scaled(max_rest_) + 1us);
        co_await std::move(pause);
    }
}

asio::awaitable<void> belief_world::hold(person const& who, std::string const& name, lease& held)
{
    auto const seen_by = watch(who, name, held);
    auto belief = std::make_unique<belief_judge::belief>(beliefs_, who.process, held, name);
    tell("client " + std::to_string(who.process) + " holds " + name + " with token " + std::to_string(held.token()));
    auto const until = u_.now() + chance_.scaled(chance_.one_in(3) ? 8 * ttl_ : ttl_);
    do {
        seen_by->while_held();
        belief->write();
        auto pause = sleep(chance_.scaled(ttl_ / 4) + 1us);
        co_await std::move(pause);
    } while (held.valid() && u_.now() < until);
    belief->write();  // also late, as somebody does who does not know that his lease is over
    bool const kept = held.valid();
    seen_by->ended(kept);
    belief.reset();
    tell("client " + std::to_string(who.process) + (kept ? " gives back " : " has lost ") + name);
    auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
    co_await std::move(releasing);
}

void belief_world::stop_clients()
{
    for (auto& p : people_) u_.processes()[p.process]->visit(u_.now(), [&] { p.with->cancel(); });
    auto const stopped = [this] { return std::all_of(people_.begin(), people_.end(), [](person const& p) { return p.stopped; }); };
    if (!u_.run_until(stopped, u_.now() + limit())) violation("a client does not stop");
    for (auto& p : people_) u_.processes()[p.process]->visit(u_.now(), [&] { p.with.reset(); });
}

void belief_world::violation(std::string const& what)
{
    tell("violation: " + what);
    if (!violation_) violation_ = kind_ + ": " + what;
}

void belief_world::tell(std::string const& what) const
{
    if (say_) say_(std::to_string(std::chrono::duration<double, std::milli>(u_.now()).count()) + " ms: " + what);
}

}  // namespace redlock::simulation
