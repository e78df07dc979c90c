#include "belief_judge.hpp"

#include <set>
#include <utility>

namespace redlock::simulation {

belief_judge::belief_judge(universe& in, std::function<void(std::string const&)> violation) : world_{in}, violation_{std::move(violation)}
{
}

belief_judge::belief::belief(belief_judge& by, std::size_t process, lease const& held, std::string name)
    : judge_{by}, process_{process}, held_{held}, name_{std::move(name)}
{
    judge_.beliefs_.push_back(this);
}

belief_judge::belief::~belief() { std::erase(judge_.beliefs_, this); }

// Tokens that a register sees never go back for who holds the lock.
void belief_judge::write(std::string const& name, lease const& held)
{
    auto& r = registers_[name];
    auto const token = held.token();
    if (token < r.token) {
        if (held.valid()) violation_("a register refused the holder of a valid lease: " + name);
        return;
    }
    if (token == r.token && r.writer != &held) violation_("two leases have one token: " + name);
    r = {token, &held};
}

void belief_judge::look() const
{
    if (beliefs_.size() < 2) return;
    std::set<std::string_view> held;
    for (belief const* const b : beliefs_) {
        bool valid = false;
        world_.processes()[b->process_]->visit(world_.now(), [&] { valid = b->held_.valid(); });
        if (valid && !held.insert(b->name_).second) violation_("two clients hold one lock at once: " + b->name_);
    }
}

}  // namespace redlock::simulation
