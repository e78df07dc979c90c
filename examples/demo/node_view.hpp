// How a node stands: what was done to it, and what the workers' clients make of that.
#ifndef REDLOCK_DEMO_NODE_VIEW_HPP
#define REDLOCK_DEMO_NODE_VIEW_HPP

#include "fleet.hpp"
#include "shared_board.hpp"
#include "terminal.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace demo {

enum class node_view : std::uint8_t {
    votes,        // on the locks of every worker
    unconnected,  // it is up, but some worker has not heard of it yet
    quarantined,  // some worker knows that it has lost its data, and waits
    stopped,
    killed,
};

using node_views = std::array<node_view, node_count>;

node_views view(server_states const& done, board const& shared);

char glyph(node_view node);
tone colour(node_view node);
char const* word(node_view node);  // at most `view_word_width` long

inline constexpr std::size_t view_word_width = 11;

}  // namespace demo

#endif
