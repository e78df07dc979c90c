#include "core/resolved_options.hpp"

#include <algorithm>

namespace redlock::detail {

namespace {

// Each lease has tokens of its own. The leases that it may be handed over to need tokens, too: they are reserved with the first, up to a bound.
tokens_wanted tokens_for(lock_options const& o, std::chrono::milliseconds retention)
{
    constexpr std::uint64_t max_reserved = 1'000'000;
    auto const most = std::max<std::uint64_t>(o.token_block, max_reserved);
    auto const wanted = o.token_block * (std::uint64_t{1} + o.max_handoffs);
    return {o.fencing, o.token_block, o.fencing ? static_cast<std::uint32_t>(std::min(wanted, most)) : 1, retention};
}

}  // namespace

resolved_options::resolved_options(lock_options const& of, std::chrono::milliseconds retention)
    : options{of},
      times{quorum::make_timing(of)},
      key_ttl{std::chrono::duration_cast<std::chrono::milliseconds>(times.key_ttl)},
      limits{of.max_handoffs, of.max_local_hold},
      tokens{tokens_for(of, retention)}
{
}

}  // namespace redlock::detail
