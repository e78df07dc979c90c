#include "protocol/state_reader.hpp"

#include "protocol/redis_replies.hpp"
#include "protocol/state_text.hpp"

namespace redlock::detail {

void state_reader::on_element(verb of, std::size_t element, boost::redis::resp3::node_view const& node, reply& r)
{
    bool const peeks = of == verb::peek;
    bool const is_text = node.data_type == boost::redis::resp3::type::blob_string;
    if (element == 0) {
        is_good_ = peeks ? is_text : true;
        found_.clear();
        if (peeks) {
            found_ = packed_holder(node.value);
        } else if (auto const code = whole_number(node); code != 1) {
            is_good_ = false;
            r = to_reply(code);
        }
    } else if (peeks && element == 1) {
        auto const left = whole_number(node);
        is_good_ = is_good_ && left && *left >= -2;
        left_ = left.value_or(-2);
    } else if (element == (peeks ? 2u : 1u) && is_good_ && is_text) {
        r = reply{vote::granted, {}, found_.append(node.value)};
        if (peeks && left_ != -2) r.expires_in = expiry_of(left_);
    }
}

}  // namespace redlock::detail
