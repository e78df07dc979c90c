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
    void on_element(std::size_t index, std::string_view value);

    // False when the server does not show its id. take() then uses the id in the server's record of its admission.
    bool says_its_id() const noexcept { return says_its_id_; }
    quorum::node_facts take();

    // Elements that servers of tests leave out, and what they add to facts that were taken before they came.
    static bool adds_to_facts(std::size_t index) noexcept { return index == set_element || index == uptime_element; }
    void complete(quorum::node_facts& facts) const;

private:
    static constexpr std::size_t set_element = 11;
    static constexpr std::size_t redis_version_element = 6;
    static constexpr std::size_t valkey_version_element = 12;
    static constexpr std::size_t uptime_element = 13;

    quorum::node_facts facts_;
    std::string record_;
    std::string redis_version_;
    std::string valkey_version_;
    std::string uptime_;
    std::string set_;
    bool has_high_water_{false};
    bool says_its_id_{false};
    bool has_too_many_{false};  // elements
};

}  // namespace redlock::detail

#endif
