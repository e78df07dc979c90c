// A schedule on real servers in the proof's terms: the lines that tests/simulation/transition_log.hpp writes of simulated ones, for the
// same reader, tests/proof/replay.py. It only looks; what happens next does not depend on it.
#ifndef REDLOCK_TESTS_FENCING_TRANSITIONS_HPP
#define REDLOCK_TESTS_FENCING_TRANSITIONS_HPP

#include "nodes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace redlock::fencing {

inline constexpr std::size_t node_count = 3;

class transitions {
public:
    // `name`: of the lock. Where nobody wants the text, nothing is asked of the servers.
    transitions(std::array<node, node_count>& nodes, std::string name, bool wanted);

    void begin(std::uint64_t seed);
    // Nothing, where nothing has happened.
    std::string text() const { return text_.size() > beginning_ ? text_ : std::string{}; }

    // Of servers: what has happened to one by itself, and what a script has answered there.
    void key_vanished(std::size_t n);
    void lost(std::size_t n);
    void acquired(std::size_t n, std::string const& value, token_number counter, std::string const& id, bool granted);
    void confirmed(std::size_t n, std::string const& value, token_number token, std::string const& id, bool granted);
    void extended(std::size_t n, std::string const& value, token_number token, std::string const& id, int extension, bool granted);
    // The look at the end of the message shows the message's id.
    void checked(std::size_t n, std::string const& value, std::string const& id);
    void checked_extension(std::size_t n, std::string const& value, std::string const& id, int extension);

    // Of clients. A value is an attempt's; each extension has a number of its own.
    void begins(std::string const& value, token_number block);
    void binds(std::string const& value, std::size_t n, std::string const& id);
    void decides(std::string const& value, token_number token, std::array<token_number, node_count> const& counters);
    void completes(std::string const& value, token_number first, token_number last, std::array<bool, node_count> const& confirmed);
    void gives_up(std::string const& value);
    void asks_to_extend(int extension, std::string const& value, token_number token);
    void is_extended(int extension, std::string const& value, std::array<bool, node_count> const& extended);

    // Of those who see to an admission; `by` is one of them, or nobody where the answer got lost.
    void marked(std::size_t n, std::string const& mark, std::string const& id, std::string const& by);
    void reads(std::size_t n, std::string const& by, words const& facts);
    void sends_an_admission(std::size_t n, std::string const& by, std::string const& id, std::string const& mark, token_number base,
                            std::vector<std::pair<std::size_t, token_number>> const& read);
    void admitted(std::size_t n, std::string const& id, std::string const& mark, token_number base, bool granted);

private:
    void line(std::string const& text, std::string const& changed = {});
    std::string changes_of(std::size_t n);
    void must_not_have_changed(std::size_t n, std::string const& what);

    std::array<node, node_count>& nodes_;
    std::string name_;
    bool wanted_;
    std::string text_{};
    std::size_t beginning_{0};  // its length
    std::array<shown_by_server, node_count> known_{};
    std::set<std::string> over_{};  // attempts that have given up; nobody gives up twice
    int drains_{0};
};

}  // namespace redlock::fencing

#endif
