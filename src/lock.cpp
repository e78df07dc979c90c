#include <redlock/lock.hpp>

#include <stdexcept>

namespace redlock {

lock::lock(client const& owner, std::string name, lock_options const& options)
    : core_{owner.core_}, name_{std::move(name)}, options_{options}
{
    if (name_.empty()) throw std::invalid_argument{"redlock::lock: the name is empty"};
    validate(options_);
}

}  // namespace redlock
