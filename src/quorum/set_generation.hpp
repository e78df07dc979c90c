// In which generation of its set a client is: docs/proof.md, S63.
#ifndef REDLOCK_QUORUM_SET_GENERATION_HPP
#define REDLOCK_QUORUM_SET_GENERATION_HPP

#include "quorum/set_record.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

class set_generation {
public:
    // The generation of `set` that the client is in now: the newest that a majority of its list carries, and never again an older one. Before there is a
    // majority, the one that most nodes carry: no lock can be had meanwhile. `carried`: the records that nodes of the list have of this set.
    set_record choose(set_record const& set, std::vector<set_record const*> const& carried, std::size_t nodes);

    // Whether a majority was seen to carry it.
    bool is_settled() const noexcept { return settled_.has_value(); }

    // Another number for each generation.
    std::uint64_t era() const noexcept { return era_; }

private:
    std::optional<set_record> settled_;
    std::optional<std::string> binding_;  // of the generation whose number era_ is; none: no record was seen yet
    std::uint64_t era_{0};
};

}  // namespace redlock::quorum

#endif
