// The timeline as a picture: a lane for each node and each lock, time running to the right, the newest entries below.
#ifndef REDLOCK_DEMO_LIVE_TIMELINE_HPP
#define REDLOCK_DEMO_LIVE_TIMELINE_HPP

#include "timeline.hpp"

#include <deque>
#include <string>
#include <vector>

namespace demo {

class live_timeline final : public timeline {
public:
    explicit live_timeline(terminal const& out);
    ~live_timeline() override;

    void add(entry const& what) override;
    void draw(picture const& now) override;

private:
    // What a column of the picture shows, a slice of time.
    struct slice {
        node_views nodes{};
        std::array<std::uint32_t, lock_count> holders{};
        std::array<bool, lock_count> cancelled{};
    };

    void take(picture const& now);
    std::string headline(picture const& now) const;
    std::string time_axis(std::size_t first, std::size_t last) const;
    std::string node_lane(std::size_t node, std::size_t first, std::size_t last) const;
    std::string lock_lane(std::size_t lock, std::size_t first, std::size_t last) const;
    std::string numbers(picture const& now) const;

    terminal const& out_;
    std::vector<slice> slices_;
    std::array<std::uint64_t, lock_count> cancelled_before_{};
    std::deque<entry> entries_;
    std::size_t lines_drawn_{0};
};

}  // namespace demo

#endif
