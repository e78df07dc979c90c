// What a node tells of itself: reads the answer of inspect_script, element by element. No I/O.
#ifndef REDLOCK_PROTOCOL_FACTS_READER_HPP
#define REDLOCK_PROTOCOL_FACTS_READER_HPP

#include "quorum/node_facts.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::detail {

class facts_reader {
public:
    // Where the record of the node's set stands. It is the last element, and servers of tests leave it out.
    static constexpr std::size_t set_element = 11;

    void on_element(std::size_t index, std::string_view value);

    // False when the server does not show its id. take() then uses the id in the server's record of its admission.
    bool says_its_id() const noexcept { return says_its_id_; }
    quorum::node_facts take();

    // What the last element adds to facts that were taken before it came.
    static void add_set(quorum::node_facts& to, std::string_view record);

private:
    quorum::node_facts facts_;
    std::string record_;
    std::string set_;
    bool has_high_water_{false};
    bool says_its_id_{false};
    bool has_too_many_{false};  // elements
};

}  // namespace redlock::detail

#endif
