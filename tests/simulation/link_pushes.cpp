// A link: what the server says unasked of keys that the client watches.
#include "link.hpp"

#include "universe.hpp"

#include <algorithm>

namespace redlock::simulation {

using detail::reply;

void link::watch(command_copy const& c)
{
    has_watched_ = true;
    watched_.insert(c.key());
    watched_.insert(c.others.begin(), c.others.end());
    to_.say_expiry_of(c.key());
    for (std::string const& key : c.others) to_.say_expiry_of(key);
}

// Redis says a change once, to all who watch the key but the one whose command it was; and to everybody, when all keys go. (To who
// never watched as well; that is left out, so that nothing depends on it where nobody waits.)
void link::on_change(std::string_view key)
{
    if (key.empty()) {
        watched_.clear();
        if (has_watched_) push(key);
        return;
    }
    if (watched_.empty()) return;
    auto const it = watched_.find(key);
    if (it == watched_.end()) return;
    watched_.erase(it);
    if (!own_command_) push(key);
}

void link::push(std::string_view key)
{
    auto const percent = universe_.weather.push_lost_percent;
    if (percent > 0 && universe_.chance.percent(percent)) {
        ++universe_.covered->push_lost;
        return;
    }
    auto const m = std::make_shared<message>();
    m->changed = key;
    m->connection = connection_;
    to_.when_it_runs([this, m] {
        if (m->connection != connection_) return;
        // What is said between the answers of a message is heard after them.
        auto const in_the_middle = [](message_ptr const& each) {
            return !each->answered &&
                   std::any_of(each->answers.begin(), each->answers.end(), [](reply const& r) { return r.vote != vote::pending; });
        };
        if (std::any_of(line_.begin(), line_.end(), in_the_middle)) return said_meanwhile_.push_back(m);
        send_back(m, delay());
    });
}

// They go with their connection, and so do pushes that are on their way.
void link::forget_watches()
{
    for (auto const& m : answers_)
        if (m->changed) ++universe_.covered->push_lost;
    answers_.clear();
    watched_.clear();
    has_watched_ = false;
}

}  // namespace redlock::simulation
