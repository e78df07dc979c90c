// What an acquisition costs a server, from INFO commandstats.
//
// Acquisitions and releases with tokens are both EVALSHA, and a script's time holds that of the calls that it makes. So the names are
// taken and given back once, which makes their counters; then the statistics are reset, and all names are taken and kept: now EVALSHA, or SET, is
// nothing but acquisitions.
//
// What no acquisition with tokens can do without is measured on the same servers: a script that does nothing, and one that makes the calls of
// an acquisition and decides nothing.
#include "run.hpp"
#include "server_stats.hpp"

#include "redis/keys.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <stdexcept>

namespace bench {

namespace {

struct server_cost {
    double acquire_us{0};
    double identity_us{0};  ///< INFO replication, of which a message has one.
    double time_us{0};  ///< TIME, likewise; without those that the script asks for.
    double process_us{0};  ///< CPU time of the server's process, its sockets included.
};

class taker {
public:
    taker(workload const& what, fleet const& servers, std::size_t names)
        : what_{what}, servers_{servers}, nodes_{io_.get_executor(), bootstrap_config(what.at)}, held_(names)
    {
        nodes_.run(asio::detached);
        run_until_usable(io_, nodes_);
    }

    server_cost run()
    {
        acquire();
        for (auto& lease : held_) lease = {};
        nodes_.drain([this](redlock::error_code) { io_.stop(); });
        io_.run();
        io_.restart();
        for (std::size_t i = 0; i < servers_.size(); ++i) servers_[i].command({"CONFIG", "RESETSTAT"});
        double const used_before = cpu_seconds(servers_);
        acquire();
        run_for(io_, 200ms);  // the slowest node has answered as well
        double const used = cpu_seconds(servers_) - used_before;
        double set = 0;  // keys: that of the lock, and with tokens its counter and now and then the high-water mark
        double usec = 0;
        server_cost cost;
        for (std::size_t i = 0; i < servers_.size(); ++i) {
            set += stat_of(servers_[i], "set").first;
            usec += stat_of(servers_[i], what_.fencing ? "evalsha" : "set").second;
            cost.identity_us += stat_of(servers_[i], "info").second;
            cost.time_us += stat_of(servers_[i], "time").second;
        }
        auto const acquired = static_cast<double>(held_.size() * servers_.size());
        if (set < (what_.fencing ? 2 : 1) * acquired) throw std::runtime_error{"the servers have not counted every acquisition"};
        return {usec / acquired, cost.identity_us / acquired, cost.time_us / acquired, used * 1e6 / acquired};
    }

private:
    void acquire()
    {
        next_ = 0;
        missing_ = held_.size();
        for (std::size_t i = 0; i < what_.callers; ++i)
            asio::co_spawn(io_, take(), [](std::exception_ptr e) {
                if (e) std::rethrow_exception(e);
            });
        io_.run();
        io_.restart();
    }

    asio::awaitable<void> take()
    {
        redlock::lock_options const options{.ttl = what_.ttl, .fencing = what_.fencing, .auto_extend = false};
        while (next_ < held_.size()) {
            std::size_t const i = next_++;
            redlock::lock const resource{nodes_, what_.key(i), options};
            auto acquisition = resource.acquire(asio::use_awaitable);
            held_[i] = co_await std::move(acquisition);
            if (--missing_ == 0) io_.stop();
        }
    }

    workload const& what_;
    fleet const& servers_;
    asio::io_context io_{1};
    redlock::client nodes_;
    std::vector<redlock::lease> held_;
    std::size_t next_{0};
    std::size_t missing_{0};
};

struct script_cost {
    double server_us{0};
    double process_us{0};
};

constexpr std::string_view empty_script = "return 1";
// Those of an acquisition that is granted; names are other ones than the library's.
constexpr std::string_view script_with_the_calls = R"lua(redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[6])
redis.call('SET', KEYS[4], ARGV[4])
return 1)lua";

std::string encoded(std::vector<std::string> const& words)
{
    std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
    for (auto const& word : words) bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
    return bytes;
}

// The keys and arguments of as many acquisitions, to each server, in messages of 64.
script_cost cost_of(std::string_view text, workload const& what, fleet const& servers, std::size_t names)
{
    constexpr std::size_t in_a_message = 64;
    constexpr std::string_view answer = ":1\r\n";
    asio::io_context io{1};
    script_cost cost;
    double calls = 0;
    for (std::size_t i = 0; i < servers.size(); ++i) {
        std::string const sha = servers[i].command({"SCRIPT", "LOAD", std::string{text}});
        servers[i].command({"CONFIG", "RESETSTAT"});
        double const used_before = cpu_seconds(servers[i]);
        asio::ip::tcp::socket socket{io};
        socket.connect({asio::ip::address_v4::loopback(), what.at[i]});
        std::string message;
        std::string answers;
        std::string expected;
        for (std::size_t k = 0; k < names; ++k) {
            std::string const key = what.key(k);
            message += encoded({"EVALSHA", sha, "4", key, key + std::string{redlock::detail::fence_suffix},
                                std::string{redlock::detail::node_record_key} + "-not",
                                std::string{redlock::detail::high_water_key} + "-not", std::string(40, 'i'), std::string(32, 'v'),
                                std::to_string(what.ttl.count()), "1234567890123456", "2", "86400000"});
            expected += answer;
            if (expected.size() / answer.size() < in_a_message && k + 1 < names) continue;
            asio::write(socket, asio::buffer(message));
            answers.resize(expected.size());
            asio::read(socket, asio::buffer(answers));
            if (answers != expected) throw std::runtime_error{"a script did not answer 1"};
            message.clear();
            expected.clear();
        }
        auto const counted = stat_of(servers[i], "evalsha");
        calls += counted.first;
        cost.server_us += counted.second;
        cost.process_us += (cpu_seconds(servers[i]) - used_before) * 1e6;
    }
    if (calls != static_cast<double>(names * servers.size())) throw std::runtime_error{"the servers have not counted every call"};
    return {cost.server_us / calls, cost.process_us / calls};
}

void measure_scripts(run& r, std::size_t names)
{
    auto const& bed = r.three();
    workload what = r.work(bed, 256, true);
    what.ttl = 30s;
    for (auto const& [name, text] :
         {std::pair{"empty_script_", empty_script}, std::pair{"script_with_the_calls_", script_with_the_calls}}) {
        std::vector<double> server_us;
        std::vector<double> process_us;
        for (std::size_t round = 0; round < r.how.rounds; ++round) {
            auto const both = run_apart<script_cost>([&, script = text] {
                cost_of(script, what, bed.servers(), names);  // the counters are there then, as with acquisitions
                std::vector<std::string> release{"DEL"};
                for (std::size_t k = 0; k < names; ++k) release.push_back(what.key(k));
                for (std::size_t i = 0; i < bed.size(); ++i) bed[i].command(release, 60s);
                return cost_of(script, what, bed.servers(), names);
            });
            server_us.push_back(both.server_us);
            process_us.push_back(both.process_us);
        }
        r.put(std::string{name} + "server_us", median(server_us));
        r.put(std::string{name} + "server_process_cpu_us", median(process_us));
    }
}

}  // namespace

void measure_server_cost(run& r)
{
    std::size_t const names = r.how.quick ? 2'000 : 10'000;
    auto const& bed = r.three();
    for (bool const fencing : {false, true}) {
        workload what = r.work(bed, 256, fencing);
        what.ttl = 30s;
        std::vector<server_cost> all;
        for (std::size_t round = 0; round < r.how.rounds; ++round)
            all.push_back(run_apart<server_cost>([&] { return taker{what, bed.servers(), names}.run(); }));
        auto const of = [&](double server_cost::* part) {
            std::vector<double> values;
            for (auto const& c : all) values.push_back(c.*part);
            return median(std::move(values));
        };
        std::string const kind = fencing ? "fenced_" : "plain_";
        r.put(kind + "server_us_per_acquire", of(&server_cost::acquire_us));
        r.put(kind + "server_process_cpu_us_per_acquire", of(&server_cost::process_us));
        r.put(kind + "server_time_us_per_acquire", of(&server_cost::time_us));
        if (fencing) r.put(kind + "server_info_us_per_acquire", of(&server_cost::identity_us));
    }
    measure_scripts(r, names);
}

}  // namespace bench
