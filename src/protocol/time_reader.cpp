#include "protocol/time_reader.hpp"

#include <chrono>
#include <cstdint>
#include <string_view>

namespace redlock::detail {

namespace resp3 = boost::redis::resp3;

namespace {

// Of ten digits at the most, and nothing else; -1: it is none. Each message has two of them, and from_chars takes twice as long.
std::int64_t short_number_in(std::string_view digits) noexcept
{
    if (digits.empty() || digits.size() > 10) return -1;
    std::int64_t number = 0;
    for (char const c : digits) {
        unsigned const digit = static_cast<unsigned char>(c) - unsigned{'0'};
        if (digit > 9) return -1;
        number = 10 * number + digit;
    }
    return number;
}

}  // namespace

// Anything but an array of two numbers in their ranges is no time; `parts_` is -1 then.
void time_reader::on_node(resp3::node_view const& node)
{
    if (node.depth == 0 && node.data_type == resp3::type::array && parts_ == 0) return;
    std::int64_t const number = short_number_in(node.value);
    std::int64_t const most = parts_ == 0 ? 9'000'000'000 : 999'999;  // the year 2255; a second
    bool const is_part = node.depth == 1 && node.data_type == resp3::type::blob_string && (parts_ == 0 || parts_ == 1);
    if (!is_part || number < 0 || number > most) {
        parts_ = -1;
        return;
    }
    clock_ += parts_++ == 0 ? quorum::wall_time{std::chrono::seconds{number}} : quorum::wall_time{number};
}

}  // namespace redlock::detail
