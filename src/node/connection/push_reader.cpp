#include "node/connection/push_reader.hpp"

namespace redlock::detail {

namespace resp3 = boost::redis::resp3;

// A push about changed keys is `invalidate` and an array of the keys, or null for all keys.
std::optional<std::string_view> push_reader::on_node(resp3::node_view const& node)
{
    if (node.depth == 0) {
        element_ = 0;
        invalidates_ = false;
        return {};
    }
    if (node.depth == 1) {
        if (element_++ == 0) {
            invalidates_ = node.value == "invalidate";
        } else if (invalidates_ && node.data_type == resp3::type::null) {
            return std::string_view{};
        }
        return {};
    }
    if (invalidates_ && node.depth == 2 && node.data_type == resp3::type::blob_string) return std::string_view{node.value};
    return {};
}

}  // namespace redlock::detail
