#include "cli/servers/cluster_report.hpp"

#include "node/connection/node_address.hpp"

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace redlock::cli {

std::vector<cluster_report> examine_clusters(config const& settings, std::chrono::milliseconds timeout)
{
    using std::chrono::milliseconds;
    auto const ends = std::chrono::steady_clock::now() + timeout;
    std::size_t servers = 0;  // that may have to be asked still
    for (node_address const& cluster : settings.nodes) servers += cluster.cluster->addresses.size();
    config with_timeout = settings;
    std::vector<cluster_report> all;
    for (node_address const& cluster : settings.nodes) {
        cluster_report report{cluster.to_string(), {errc::node_unreachable, "", {}}};
        std::string problems;
        std::size_t left_of_this = cluster.cluster->addresses.size();
        for (cluster_address const& a : cluster.cluster->addresses) {
            auto const left = std::chrono::floor<milliseconds>(ends - std::chrono::steady_clock::now());
            auto const patience = std::max(milliseconds{1}, left / static_cast<milliseconds::rep>(servers));
            with_timeout.connect_timeout = patience - patience / 8;  // so that it says why, and is not cut off
            --servers, --left_of_this;
            asio::io_context io{1};
            node_address server = completed(cluster, settings.tls);
            server.cluster.reset();
            server.host = a.host;
            server.port = a.port;
            auto const question = std::make_shared<detail::cluster_question>(io.get_executor(), server, with_timeout, std::nullopt);
            question->ask([&](detail::cluster_answer answer) { report.said = std::move(answer); });
            io.run_for(patience);
            question->stop();
            if (!report.said.why) break;
            problems += (problems.empty() ? "" : "; ") + question->server() + ": " + report.said.words;
        }
        servers -= left_of_this;
        if (report.said.why) report.said.words = problems;
        all.push_back(std::move(report));
    }
    return all;
}

}  // namespace redlock::cli
