// Terms of an election.
#ifndef REDLOCK_API_TERMS_HPP
#define REDLOCK_API_TERMS_HPP

#include <redlock/error.hpp>

namespace redlock::detail {

// Whether a term that ended like that is followed by another campaign.
bool campaigns_again(error_code why) noexcept;

}  // namespace redlock::detail

#endif
