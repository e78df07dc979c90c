#include "redis/time_reader.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>

namespace redlock::detail {

namespace resp3 = boost::redis::resp3;

// Anything but an array of two numbers in their ranges is no time; `parts_` is -1 then.
void time_reader::on_node(resp3::node_view const& node)
{
    if (node.depth == 0 && node.data_type == resp3::type::array && parts_ == 0) return;
    std::int64_t number{-1};
    auto const end = node.value.data() + node.value.size();
    auto const read = std::from_chars(node.value.data(), end, number);
    std::int64_t const most = parts_ == 0 ? 9'000'000'000 : 999'999;  // the year 2255; a second
    bool const is_part = node.depth == 1 && node.data_type == resp3::type::blob_string && (parts_ == 0 || parts_ == 1);
    if (!is_part || read.ec != std::errc{} || read.ptr != end || number < 0 || number > most) {
        parts_ = -1;
        return;
    }
    clock_ += parts_++ == 0 ? quorum::wall_time{std::chrono::seconds{number}} : quorum::wall_time{number};
}

}  // namespace redlock::detail
