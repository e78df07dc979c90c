#include "scenario.hpp"

#include "simulated_client.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace redlock::simulation {

namespace {

constexpr char const* resource = "resource";

error_code code_of(std::exception_ptr const& failure)
{
    if (!failure) return {};
    try {
        std::rethrow_exception(failure);
    } catch (system_error const& e) {
        return e.code();
    }
}

}  // namespace

bool acquisition::valid() const { return by.is_valid(held); }

duration acquisition::valid_until() const { return by.in_the_world(held.valid_until()); }

actor::actor(universe& in, duration start, std::size_t number)
    : prefix{"p" + std::to_string(number - 1) + "-"},
      world_{in},
      start_{start},
      process_{&in.add_process({time_point{1h * number}, 0ns, 0})},
      client_{make_client(in, *process_)}
{
    visit([&] { client_->run([this](error_code) { stopped_ = true; }); });
}

void actor::end(ended& what, error_code ec) const
{
    what.done = true;
    what.ec = ec;
    what.at = now();
}

acquisition& actor::start(bool once, lock_options const& options)
{
    auto& a = acquisitions_.emplace_back(*this);
    auto handler = [this, &a](error_code ec, lease held) {
        a.held = std::move(held);
        end(a, ec);
    };
    visit([&] {
        lock const what{*client_, resource, options};
        auto const bound = asio::bind_cancellation_slot(a.gives_up.slot(), handler);
        once ? what.try_acquire(a.report, bound) : what.acquire(a.report, bound);
    });
    return a;
}

acquisition& actor::try_acquire(lock_options const& options) { return start(true, options); }
acquisition& actor::acquire(lock_options const& options) { return start(false, options); }

ended& actor::extend(acquisition& of)
{
    BOOST_REQUIRE(of.held);
    auto& e = ended_.emplace_back();
    visit([&] { of.held.extend([this, &e](error_code ec) { end(e, ec); }); });
    return e;
}

ended& actor::release(acquisition& of)
{
    BOOST_REQUIRE(of.held);
    auto& e = ended_.emplace_back();
    visit([&] { of.held.release([this, &e](error_code ec) { end(e, ec); }); });
    return e;
}

ended& actor::wait_lost(acquisition& of)
{
    BOOST_REQUIRE(of.held);
    auto& e = ended_.emplace_back();
    visit([&] { of.held.wait_lost([this, &e](error_code ec) { end(e, ec); }); });
    return e;
}

void actor::cancel(acquisition& what, asio::cancellation_type_t type)
{
    visit([&] { what.gives_up.emit(type); });
}

scope& actor::with_lock(std::function<asio::awaitable<void>(lease&)> body, lock_options const& options)
{
    auto& s = scopes_.emplace_back(*this);
    auto observed = [this, &s, body = std::move(body)](lease& held) -> asio::awaitable<void> {
        struct on_exit {
            actor& self;
            scope& s;
            ~on_exit()
            {
                s.body_over = self.now();
                s.valid_until = self.in_the_world(s.held->valid_until());
                s.held = nullptr;
            }
        } const guard{*this, s};
        s.entered = now();
        s.held = &held;
        auto running = body(held);
        co_await std::move(running);
    };
    visit([&] {
        lock const what{*client_, resource, options};
        asio::co_spawn(process_->get_executor(), redlock::with_lock(what, observed),
                       [this, &s](std::exception_ptr failure) { end(s, code_of(failure)); });
    });
    return s;
}

void actor::kill()
{
    world_.kill(*process_);
    process_ = nullptr;
}

void actor::unplug(std::initializer_list<server_name> servers)
{
    for (auto const s : servers) {
        to(s).unreachable = true;
        to(s).cut();
    }
}

void actor::plug_in(std::initializer_list<server_name> servers)
{
    for (auto const s : servers) to(s).heal();
}

void actor::gives_up(server_name s, duration late)
{
    to(s).next_cut_leaves = {1, start_ + late};
    to(s).cut();
}

bool actor::is_valid(lease const& held) const
{
    bool result = false;
    if (!is_dead()) visit([&] { result = held.valid(); });
    return result;
}

std::size_t actor::valid_leases() const
{
    std::size_t count = 0;
    for (auto const& a : acquisitions_) count += a.valid();
    for (auto const& s : scopes_) count += s.held && is_valid(*s.held);
    return count;
}

scenario::scenario(std::size_t servers, std::size_t clients, std::uint64_t seed)
    : world{seed}, rules_{world, {}}, actors_{make_actors(servers, clients)}, one{client(1)}, two{client(2)}
{
    world.after_step = [this] {
        std::size_t valid = 0;
        for (actor const& each : actors_) valid += each.valid_leases();
        max_holders = std::max(max_holders, valid);
    };
    world.advance(start);
    for (auto const& l : world.links()) BOOST_REQUIRE(l->up());
}

scenario::~scenario() { world.destroy_processes(); }

std::deque<actor> scenario::make_actors(std::size_t servers, std::size_t clients)
{
    world.weather.min_delay = world.weather.max_delay = one_way;
    world.weather.max_reconnect = 1ms;
    world.weather.apart_one_in = 0;
    for (std::size_t i = 0; i < servers; ++i) world.add_server({time_point{24h + std::chrono::seconds{i}}, 0ns, 0}).begin_admitted(30s, 0);
    std::deque<actor> result;
    for (std::size_t number = 1; number <= clients; ++number) result.emplace_back(world, start, number);
    return result;
}

void scenario::run_to(duration t)
{
    BOOST_REQUIRE(t >= now());
    advance(t - now());
}

std::size_t scenario::messages_of(actor const& who, duration within)
{
    auto const sent = [&] {
        std::size_t sum = 0;
        for (auto const& s : world.servers()) sum += world.between(*who.process_, *s).messages();
        return sum;
    };
    auto const before = sent();
    advance(within);
    return sent() - before;
}

std::string scenario::value_on(server_name s)
{
    auto const* const e = at(s).find(resource);
    return e ? e->value : "";
}

std::optional<duration> scenario::expires_on(server_name s)
{
    auto const* const e = at(s).find(resource);
    if (!e || !e->expires) return {};
    return at(s).wall.when(*e->expires + (at(s).memory.expires_early ? 0ms : 1ms)) - start;
}

std::string scenario::keys()
{
    std::string result;
    for (std::size_t i = 0; i < world.servers().size(); ++i) {
        std::string const value = value_on(static_cast<server_name>(i));
        char shown = value.empty() ? '.' : '?';
        for (std::size_t c = 0; c < actors_.size(); ++c)
            if (value.starts_with(actors_[c].prefix)) shown = static_cast<char>('1' + c);
        result += shown;
    }
    return result;
}

void scenario::teardown()
{
    BOOST_TEST(max_holders <= holders_allowed);
    auto const everybody_is = [this](auto what) {
        auto const done_or_dead = [&](actor const& a) { return a.is_dead() || what(a); };
        return world.run_until([&] { return std::all_of(actors_.begin(), actors_.end(), done_or_dead); }, world.now() + 1min);
    };
    for (auto const& s : world.servers()) {
        s->start();
        s->go_on();
    }
    std::size_t drained = 0;
    std::size_t alive = 0;
    for (actor& a : actors_) {
        if (a.is_dead()) {
            rules_.keys().excuse(a.prefix);
            continue;
        }
        ++alive;
        for (auto const& s : world.servers()) world.between(*a.process_, *s).heal();
        BOOST_TEST(everybody_is([](actor const& each) { return each.process_->running(); }));
        // Whoever still waits for one that is given back gets it, and gives it back.
        for (std::size_t n = a.acquisitions_.size(); n > 0; --n) {
            for (auto& each : a.acquisitions_) each.held = lease{};
            advance(10ms);
        }
        a.visit([&] { a.client_->drain([&](error_code) { ++drained; }); });
    }
    BOOST_TEST(everybody_is([&](actor const&) { return drained == alive; }));
    for (actor& a : actors_)
        if (!a.is_dead()) a.visit([&] { a.client_->cancel(); });
    BOOST_TEST(everybody_is([](actor const& a) { return a.stopped_; }));
    for (actor& a : actors_)
        if (!a.is_dead()) a.visit([&] { a.client_.reset(); });
    BOOST_TEST(everybody_is([](actor const& a) { return a.process_->ready() == 0; }));
    rules_.at_the_end();
    BOOST_TEST(!rules_.verdict(), rules_.verdict().value_or(""));
}

}  // namespace redlock::simulation
