#include <redlock/detail/access.hpp>
#include <redlock/rw_lock.hpp>

#include "api/checked_key.hpp"

#include <stdexcept>

namespace redlock {

namespace {

detail::resource side_of(client const& owner, std::string const& name, detail::resource::side which)
{
    std::string const key = detail::checked_key("redlock::rw_lock", name, detail::access::core_of(owner)->keys());
    return {key, name, which, key + std::string{detail::want_suffix}};
}

lock_options with_tokens(lock_options const& options)
{
    if (!options.fencing) throw std::invalid_argument{"redlock::rw_lock: lock_options::fencing is off, but readers need tokens"};
    return options;
}

}  // namespace

rw_lock::rw_lock(client const& owner, std::string name, lock_options const& options)
    : writer_{owner, side_of(owner, name, detail::resource::side::writer), with_tokens(options)},
      reader_{owner, side_of(owner, name, detail::resource::side::reader), options}
{
}

}  // namespace redlock
