#include "cli/glance.hpp"

#include "redis/key_format.hpp"

#include <utility>
#include <vector>

namespace redlock::cli {

struct glance::state {
    std::string name;
    std::vector<node_link> links;
    std::vector<key_view> keys;
    std::size_t unanswered{0};
    handler done;
};

glance::glance(asio::any_io_executor executor, config settings, std::string const& name, std::chrono::milliseconds timeout, handler done)
    : state_{std::make_shared<state>()}
{
    settings.connect_timeout = timeout;
    auto const s = state_;
    s->name = name;
    s->keys.resize(settings.nodes.size());
    s->unanswered = settings.nodes.size();
    s->done = std::move(done);
    auto const questions = questions_about(detail::key_format{settings.key_format}.key_of(name));
    for (node_address const& address : settings.nodes) s->links.emplace_back(executor, address, settings);
    for (std::size_t node = 0; node < s->links.size(); ++node)
        s->links[node].ask(questions, timeout, [s, node](answers a) {
            s->keys[node] = read_key(a, 0);
            if (--s->unanswered > 0) return;
            for (node_link& link : s->links) link.close();
            if (auto const tell = std::exchange(s->done, nullptr)) tell(judge(s->name, std::move(s->keys)));
        });
}

glance::~glance()
{
    state_->done = nullptr;
    for (node_link& link : state_->links) link.close();
}

}  // namespace redlock::cli
