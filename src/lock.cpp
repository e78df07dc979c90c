#include <redlock/lock.hpp>

#include "bounds.hpp"
#include "node/keys.hpp"

#include <stdexcept>

namespace redlock {

lock::lock(client const& owner, std::string name, lock_options const& options)
    : core_{owner.core_}, name_{std::move(name)}, options_{options}
{
    if (name_.empty()) throw std::invalid_argument{"redlock::lock: the name is empty"};
    if (name_.ends_with(detail::fence_suffix) || name_ == detail::node_record_key || name_ == detail::high_water_key)
        throw std::invalid_argument{"redlock::lock: the name is \"" + name_ + "\", which is a key that this library keeps for itself"};
    validate(options_);
    if (auto const most = core_->max_ttl(); options_.fencing && options_.ttl > most)
        throw std::invalid_argument{"lock_options::ttl is " + bounds::to_text(options_.ttl) +
                                    "; with fencing it must not be above config::max_ttl, which is " + bounds::to_text(most)};
}

}  // namespace redlock
