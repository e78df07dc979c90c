// In which generation of its set a client is: docs/proof.md, S63 and S64.
#ifndef REDLOCK_QUORUM_SETS_SET_GENERATION_HPP
#define REDLOCK_QUORUM_SETS_SET_GENERATION_HPP

#include "quorum/sets/set_record.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::quorum {

class set_generation {
public:
    // The generation of `set` that the client is in now: the newest into which a majority of the one before has moved, and never again an older one. Before
    // there is such a one, that which most nodes carry: no lock can be had meanwhile. `carried`: the records that nodes of the list have of this set.
    set_record choose(set_record const& set, std::vector<set_record const*> const& carried);

    // Whether these are a majority in a newer generation than the one that the client is in.
    bool is_outrun_by(std::vector<set_record const*> const& carried) const;

    // Whether a majority was seen to have moved into it.
    bool is_settled() const noexcept { return settled_.has_value(); }

    // Another number for each generation of a set that was changed. From one set that never was to another, it stays.
    std::uint64_t era() const noexcept { return era_; }

private:
    bool is_newer_majority(set_record const& r, std::vector<set_record const*> const& carried) const;

    std::optional<set_record> settled_;
    std::optional<std::string> binding_;  // of the generation whose number era_ is; none: no record was seen yet
    std::uint64_t era_{0};
};

}  // namespace redlock::quorum

#endif
