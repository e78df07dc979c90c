#include "node/request_pool.hpp"

#include <utility>

namespace redlock::detail {

request_pool::bytes request_pool::bytes_of(batch const& work, std::string_view id, request_extras const& extras)
{
    if (!work.wire) work.wire = std::make_unique<redis_request>();
    auto& wire = static_cast<redis_request&>(*work.wire);
    if (!std::exchange(work.is_encoded, true)) wire.encode(work, id, extras);
    bool const same_extras = wire.extras() == extras;
    if (wire.is_for(id) && same_extras) return {wire, nullptr};

    // Votes with tokens name the server, so each node gets bytes of its own.
    auto own = take();
    own->calls.clear();
    if (!same_extras || !own->copy_bytes(wire, id)) own->encode(work, id, extras);
    return {wire, std::move(own)};
}

std::unique_ptr<redis_request> request_pool::take()
{
    if (spare_.empty()) return std::make_unique<redis_request>();
    auto last = std::move(spare_.back());
    spare_.pop_back();
    return last;
}

void request_pool::give_back(std::unique_ptr<redis_request> copy)
{
    constexpr std::size_t max_spare = 8;
    if (spare_.size() < max_spare) spare_.push_back(std::move(copy));
}

}  // namespace redlock::detail
