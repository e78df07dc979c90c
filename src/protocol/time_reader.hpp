// Reads the answer of TIME: seconds and microseconds. No I/O.
#ifndef REDLOCK_PROTOCOL_TIME_READER_HPP
#define REDLOCK_PROTOCOL_TIME_READER_HPP

#include "quorum/clocks/clock_step_detector.hpp"

#include <boost/redis/resp3/node.hpp>

namespace redlock::detail {

class time_reader {
public:
    void on_node(boost::redis::resp3::node_view const& node);
    quorum::wall_time clock() const noexcept { return parts_ == 2 ? clock_ : quorum::wall_time{}; }

private:
    quorum::wall_time clock_{};
    int parts_{0};
};

}  // namespace redlock::detail

#endif
