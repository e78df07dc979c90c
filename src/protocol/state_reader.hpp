// Reads the array that says what a node keeps of a state: {code, state} for verb::inherit, {whose value, milliseconds, state} for
// verb::peek. No I/O.
#ifndef REDLOCK_PROTOCOL_STATE_READER_HPP
#define REDLOCK_PROTOCOL_STATE_READER_HPP

#include "protocol/reply.hpp"
#include "protocol/verb.hpp"

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace redlock::detail {

class state_reader {
public:
    // The last element grants the vote, if all of them are as they should be.
    void on_element(verb of, std::size_t element, boost::redis::resp3::node_view const& node, reply& r);

private:
    bool is_good_{false};  // all elements so far are as they should be
    std::string found_;
    std::int64_t left_{-2};  // -2: there is no key
};

}  // namespace redlock::detail

#endif
