#include "cli/servers/glance.hpp"

#include <utility>
#include <vector>

namespace redlock::cli {

struct glance::state {
    std::vector<node_link> links;
    std::vector<answers> all;
    std::size_t unanswered{0};
    handler done;
};

glance::glance(asio::any_io_executor executor, config settings, std::vector<words> const& questions, std::chrono::milliseconds timeout,
               handler done)
    : state_{std::make_shared<state>()}
{
    settings.connect_timeout = timeout;
    auto const s = state_;
    s->all.resize(settings.nodes.size());
    s->unanswered = settings.nodes.size();
    s->done = std::move(done);
    for (node_address const& address : settings.nodes) s->links.emplace_back(executor, address, settings);
    for (std::size_t node = 0; node < s->links.size(); ++node)
        s->links[node].ask(questions, timeout, [s, node](answers a) {
            s->all[node] = std::move(a);
            if (--s->unanswered > 0) return;
            for (node_link& link : s->links) link.close();
            if (auto const tell = std::exchange(s->done, nullptr)) tell(std::move(s->all));
        });
}

glance::~glance()
{
    state_->done = nullptr;
    for (node_link& link : state_->links) link.close();
}

}  // namespace redlock::cli
