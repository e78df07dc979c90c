#include "cli/servers/cluster_report.hpp"

#include "node/connection/node_address.hpp"

#include <boost/asio/io_context.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace redlock::cli {

std::vector<cluster_report> examine_clusters(config const& settings, std::chrono::milliseconds timeout)
{
    config with_timeout = settings;
    with_timeout.connect_timeout = timeout;
    std::vector<cluster_report> all;
    for (node_address const& cluster : settings.nodes) {
        cluster_report report{cluster.to_string(), {errc::node_unreachable, "", {}}};
        std::string problems;
        for (cluster_address const& a : cluster.cluster->addresses) {
            asio::io_context io{1};
            node_address server = completed(cluster, settings.tls);
            server.cluster.reset();
            server.host = a.host;
            server.port = a.port;
            auto const question = std::make_shared<detail::cluster_question>(io.get_executor(), server, with_timeout, std::nullopt);
            question->ask([&](detail::cluster_answer answer) { report.said = std::move(answer); });
            io.run_for(2 * timeout);
            question->stop();
            if (!report.said.why) break;
            problems += (problems.empty() ? "" : "; ") + question->server() + ": " + report.said.words;
        }
        if (report.said.why) report.said.words = problems;
        all.push_back(std::move(report));
    }
    return all;
}

}  // namespace redlock::cli
