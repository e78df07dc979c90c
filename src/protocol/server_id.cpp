#include "protocol/server_id.hpp"

#include <charconv>

namespace redlock::detail {

namespace {

std::uint16_t three_digits_at(std::string_view id, std::size_t at) noexcept
{
    constexpr std::size_t digits = 3;
    std::uint16_t number{0};
    std::from_chars(id.data() + at, id.data() + at + digits, number);
    return number;
}

}  // namespace

std::uint16_t replicas_in_id(std::string_view bound_id) noexcept
{
    return is_bound(bound_id) ? three_digits_at(bound_id, 1) : std::uint16_t{0};
}

std::uint16_t shards_in_id(std::string_view bound_id) noexcept
{
    return is_of_cluster(bound_id) ? three_digits_at(bound_id, bound_prefix_size + 1) : std::uint16_t{0};
}

}  // namespace redlock::detail
