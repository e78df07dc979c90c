// What two scripts cost a server: one does nothing, and one makes the calls of an acquisition.
#include "processors.hpp"
#include "command_stats.hpp"
#include "run.hpp"
#include "server_cpu.hpp"

#include "protocol/keys.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {

namespace {

struct script_cost {
    double server_us{0};
    double process_us{0};
};

constexpr std::string_view empty_script = "return 1";
// The calls of an acquisition that is granted. There is one in each script here, while the library has up to 50 in one with a common MGET. The
// node's record and its high-water mark have other names, so that the real ones stay.
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

// Calls the script with the keys and arguments of so many acquisitions, on each server, in messages of 64.
script_cost cost_of(std::string_view text, workload const& what, fleet const& servers, std::size_t acquisitions)
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
        for (std::size_t k = 0; k < acquisitions; ++k) {
            std::string const key = what.key(k);
            message += encoded({"EVALSHA", sha, "4", key, key + std::string{redlock::detail::fence_suffix},
                                std::string{redlock::detail::node_record_key} + "-not",
                                std::string{redlock::detail::high_water_key} + "-not", std::string(40, 'i'), std::string(32, 'v'),
                                std::to_string(what.ttl.count()), "1234567890123456", "2", "86400000"});
            expected += answer;
            if (expected.size() / answer.size() < in_a_message && k + 1 < acquisitions) continue;
            asio::write(socket, asio::buffer(message));
            answers.resize(expected.size());
            asio::read(socket, asio::buffer(answers));
            if (answers != expected) throw std::runtime_error{"a script did not answer 1"};
            message.clear();
            expected.clear();
        }
        auto const counted = command_stats_of(servers[i])["evalsha"];
        calls += static_cast<double>(counted.calls);
        cost.server_us += counted.usec;
        cost.process_us += (cpu_seconds(servers[i]) - used_before) * 1e6;
    }
    if (calls != static_cast<double>(acquisitions * servers.size())) throw std::runtime_error{"the servers have not counted every call"};
    return {cost.server_us / calls, cost.process_us / calls};
}

}  // namespace

void measure_scripts_cost(run& r, std::size_t acquisitions)
{
    auto const& bed = r.three();
    workload what = r.work(bed, 256, true);
    what.ttl = 30s;
    for (auto const& [name, text] :
         {std::pair{"empty_script_", empty_script}, std::pair{"script_with_the_calls_", script_with_the_calls}}) {
        std::vector<double> server_us;
        std::vector<double> process_us;
        for (std::size_t round = 0; round < r.how.rounds; ++round) {
            auto const cost = run_in_client_process<script_cost>([&, script = text] {
                cost_of(script, what, bed.servers(), acquisitions);  // makes the counters, which acquisitions find (server_cost.cpp)
                std::vector<std::string> release{"DEL"};
                for (std::size_t k = 0; k < acquisitions; ++k) release.push_back(what.key(k));
                for (std::size_t i = 0; i < bed.size(); ++i) bed[i].command(release, 60s);
                return cost_of(script, what, bed.servers(), acquisitions);
            });
            server_us.push_back(cost.server_us);
            process_us.push_back(cost.process_us);
        }
        r.put(std::string{name} + "server_us", median(server_us));
        r.put(std::string{name} + "server_process_cpu_us", median(process_us));
    }
}

}  // namespace bench
