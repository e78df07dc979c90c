// What the viewer sees while the demo runs: lines, or in a terminal a picture that is redrawn.
#ifndef REDLOCK_DEMO_TIMELINE_HPP
#define REDLOCK_DEMO_TIMELINE_HPP

#include "cast.hpp"
#include "node_view.hpp"
#include "terminal.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

namespace demo {

struct entry {
    std::chrono::nanoseconds at;  // since the start
    std::string subject;          // a lock, a node, or the demo
    std::string words;
    demo::tone tone{tone::plain};
};

// The state of everything at one moment.
struct picture {
    std::chrono::nanoseconds at;
    node_views nodes{};
    std::array<std::uint32_t, lock_count> holders{};   // worker + 1, or 0
    std::array<std::uint64_t, lock_count> cancelled{}; // scopes so far
    std::uint64_t sections{0};
    std::uint64_t extensions{0};
    std::uint64_t late{0};
    std::uint64_t overlaps{0};
    std::uint64_t stale_tokens{0};
};

class timeline {
public:
    virtual ~timeline() = default;

    virtual void add(entry const& what) = 0;
    virtual void draw(picture const& now) = 0;
};

// `out` must outlive the result.
std::unique_ptr<timeline> make_timeline(terminal const& out);

// An entry as one line without its end, cut to `width`.
std::string one_line(terminal const& out, entry const& what, std::size_t width);

}  // namespace demo

#endif
