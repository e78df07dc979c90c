#include <redlock/config.hpp>
#include <redlock/detail/access.hpp>
#include <redlock/testing.hpp>

#include "testing/simulated_node_state.hpp"
#include "testing/stepping.hpp"

#include "base/start_inline.hpp"
#include "base/strand.hpp"
#include "client/basic_core.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <stdexcept>
#include <vector>

namespace redlock::testing {

namespace {

constexpr time_point beginning{std::chrono::hours{1}};
constexpr char const* elsewhere = "elsewhere";

// The owner of a value; what follows makes each of its values unique.
std::string_view who_of(std::string_view value) { return value.substr(0, value.rfind('#')); }

void validate(simulation_options const& options)
{
    using namespace std::chrono_literals;
    if (options.nodes < 1 || options.nodes > max_nodes) throw std::invalid_argument{"simulation_options::nodes: 1 to 15"};
    if (options.round_trip < 0us) throw std::invalid_argument{"simulation_options::round_trip: negative"};
    if (options.max_lingering < 0us) throw std::invalid_argument{"simulation_options::max_lingering: negative"};
    if (options.max_ttl < 10ms || options.max_ttl > std::chrono::days{30})
        throw std::invalid_argument{"simulation_options::max_ttl: 10 ms to 30 days"};
}

}  // namespace

class only_one_simulation {
public:
    only_one_simulation()
    {
        if (exists.exchange(true)) throw std::logic_error{"another simulation lives: there is one virtual time in a process"};
    }
    only_one_simulation(only_one_simulation const&) = delete;
    only_one_simulation& operator=(only_one_simulation const&) = delete;
    ~only_one_simulation() { exists = false; }

private:
    static inline std::atomic<bool> exists{false};
};

class simulation::state {
    using core_type = detail::basic_core<virtual_clock>;

public:
    explicit state(simulation_options const& options) : options_{options}, random_{options.seed}
    {
        virtual_clock::current = beginning;
        asio::use_service<virtual_time>(*context_);
        for (std::size_t i = 0; i < options.nodes; ++i) {
            auto node = std::make_unique<simulated_node::state>("node" + std::to_string(i), options, random_);
            nodes_.push_back(std::unique_ptr<simulated_node>{new simulated_node{std::move(node)}});
        }
        first_.emplace(make_client("client", nullptr));
    }
    state(state const&) = delete;
    state& operator=(state const&) = delete;
    ~state() { context_.reset(); }  // handlers that own clients, leases or timers go first

    redlock::client make_client(std::string name, std::shared_ptr<redlock::observer> observer)
    {
        if (name.empty() || name == elsewhere || cores_.contains(name))
            throw std::invalid_argument{"make_client: \"" + name + "\" is no name, or somebody has it"};
        asio::any_io_executor const executor = context_->get_executor();
        asio::any_io_executor const strand = detail::make_client_strand(executor);
        std::vector<std::unique_ptr<detail::node>> connections;
        for (auto const& n : nodes_) connections.push_back(n->state_->connection(strand));
        detail::engine_settings settings;
        settings.max_ttl = options_.max_ttl;
        settings.jitter_seed = static_cast<std::uint32_t>(random_());
        settings.observer = std::move(observer);
        settings.wall_clock = [] {
            return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / std::chrono::microseconds{1});
        };
        settings.fresh_value = [this, name] { return fresh_value(name); };
        settings.fresh_mark = [this] { return "mark" + std::to_string(++values_); };
        settings.run_here = detail::start_inline(strand);
        auto core = core_type::make(executor, strand, std::move(connections), std::move(settings));
        cores_.emplace(std::move(name), core);
        redlock::client made = detail::access::make_client(core);
        made.run([](error_code) {});
        return made;
    }

    asio::io_context& context() noexcept { return *context_; }
    redlock::client& first() noexcept { return *first_; }
    std::vector<std::unique_ptr<simulated_node>> const& nodes() const noexcept { return nodes_; }

    template <class F>
    auto running(F f)
    {
        if (running_) throw std::logic_error{"time passes already: inside of what runs, co_await sleep()"};
        struct guard {
            bool& flag;
            explicit guard(bool& f) : flag{f} { flag = true; }
            ~guard() { flag = false; }
        } const g{running_};
        return f();
    }

    std::optional<holding> holder(std::string_view name) const
    {
        std::map<std::string_view, std::vector<std::chrono::milliseconds>> left;  // of each value, on its nodes
        for (auto const& n : nodes_) {
            auto& memory = n->state_->memory();
            auto const wall = n->state_->wall();
            auto const* const e = memory.find(name, wall);
            if (!e || e->readers) continue;
            auto const expires = e->expires ? memory.gone_at(*e) - wall : duration::max();
            left[e->value].push_back(std::chrono::floor<std::chrono::milliseconds>(expires));
        }
        auto const majority = quorum::majority(nodes_.size());
        for (auto& [value, times] : left) {
            if (times.size() < majority) continue;
            std::sort(times.rbegin(), times.rend());
            auto const who = who_of(value);
            return holding{std::string{who}, times.size(), token_of(who, name), times[majority - 1]};
        }
        return {};
    }

    void take_elsewhere(std::string_view name, std::chrono::milliseconds ttl)
    {
        if (ttl < std::chrono::milliseconds{1} || ttl > options_.max_ttl) throw std::invalid_argument{"ttl: 1 ms to max_ttl"};
        auto const before = counter_of(name);
        std::string const value = fresh_value(elsewhere);
        for (auto const& n : nodes_) {
            auto& memory = n->state_->memory();
            auto const wall = n->state_->wall();
            memory.del(name);
            detail::command c{detail::verb::acquire, name, value, ttl};
            c.fenced = true;
            c.token = before + 1;
            c.retention = std::chrono::hours{1};
            if (memory.execute(c, wall, memory.id).vote != vote::granted) memory.set(name, value, ttl, wall);  // it is not admitted
        }
    }

    void release_elsewhere(std::string_view name)
    {
        for (auto const& n : nodes_) {
            auto& memory = n->state_->memory();
            auto const* const e = memory.find(name, n->state_->wall());
            if (e && who_of(e->value) == elsewhere) memory.del(name);
        }
    }

    void tell_holders(std::string_view name)
    {
        for (auto const& [who, core] : cores_) core->extend_all_on(std::string{name});
    }

    std::uint64_t leases_lost() const
    {
        std::uint64_t n = 0;
        for (auto const& [who, core] : cores_) n += core->status().counters.leases_lost;
        return n;
    }

private:
    std::string fresh_value(std::string const& who) { return who + '#' + std::to_string(++values_); }

    token_number counter_of(std::string_view name) const
    {
        token_number token = 0;
        for (auto const& n : nodes_) {
            auto const* const c = n->state_->memory().find_counter(name, n->state_->wall());
            if (c && c->value) token = std::max(token, *c->value);
        }
        return token;
    }

    // Of a lease: what the nodes count are the tokens that were reserved.
    token_number token_of(std::string_view who, std::string_view name) const
    {
        if (who == elsewhere) return counter_of(name);
        auto const found = cores_.find(who);
        return found == cores_.end() ? 0 : found->second->token_on(name);
    }

    only_one_simulation only_one_;
    simulation_options options_;
    std::mt19937 random_;
    std::uint64_t values_{0};
    bool running_{false};
    std::vector<std::unique_ptr<simulated_node>> nodes_;
    std::map<std::string, std::shared_ptr<core_type>, std::less<>> cores_;
    std::unique_ptr<asio::io_context> context_ = std::make_unique<asio::io_context>();
    std::optional<redlock::client> first_;
};

simulation::simulation(simulation_options const& options)
{
    validate(options);
    state_ = std::make_unique<state>(options);
    run_for({});  // connections come up
}
simulation::~simulation() = default;

asio::io_context& simulation::context() noexcept { return state_->context(); }
asio::any_io_executor simulation::get_executor() const noexcept { return state_->context().get_executor(); }
redlock::client& simulation::client() noexcept { return state_->first(); }
simulated_node& simulation::node(std::size_t index) { return *state_->nodes().at(index); }
std::size_t simulation::nodes() const noexcept { return state_->nodes().size(); }

redlock::client simulation::make_client(std::string name, std::shared_ptr<redlock::observer> observer)
{
    return state_->make_client(std::move(name), std::move(observer));
}

void simulation::run(asio::awaitable<void> story, duration limit)
{
    auto const end = std::make_shared<ending>();
    asio::co_spawn(context(), std::move(story), [end](std::exception_ptr e) {
        end->failure = std::move(e);
        end->reached = true;
    });
    run_to(*end, limit);
}

void simulation::run_to(ending const& end, duration limit)
{
    if (!run_until([&] { return end.reached; }, limit))
        throw std::runtime_error{
            "the coroutine does not end: it waits for ever, or for something that is not in virtual time, like asio::steady_timer"};
    if (end.failure) std::rethrow_exception(end.failure);
}

void simulation::run_for(duration time)
{
    state_->running([&] { advance(context(), time); });
}

bool simulation::run_until(std::function<bool()> const& done, duration limit)
{
    return state_->running([&] { return advance_until(context(), done, limit); });
}

void simulation::pause(duration time) { virtual_clock::current += time; }

void simulation::hold_elsewhere(std::string_view name, std::chrono::milliseconds ttl)
{
    if (auto const now = holder(name)) throw std::logic_error{"hold_elsewhere: " + now->who + " has " + std::string{name}};
    state_->take_elsewhere(name, ttl);
}

void simulation::release_elsewhere(std::string_view name) { state_->release_elsewhere(name); }

void simulation::lose(std::string_view name, std::chrono::milliseconds ttl)
{
    auto const now = holder(name);
    if (!now || now->who == elsewhere) throw std::logic_error{"lose: no client has " + std::string{name}};
    state_->take_elsewhere(name, ttl);
    state_->tell_holders(name);
}

std::optional<holding> simulation::holder(std::string_view name) const { return state_->holder(name); }
std::uint64_t simulation::leases_lost() const { return state_->leases_lost(); }

}  // namespace redlock::testing
