#include <redlock/testing.hpp>

#include "testing/simulated_node_state.hpp"

#include <memory>
#include <utility>

namespace redlock::testing {

simulated_node::simulated_node(std::unique_ptr<state> s) : state_{std::move(s)} {}
simulated_node::~simulated_node() = default;
void simulated_node::down() { state_->down(); }
void simulated_node::up() { state_->up(); }
void simulated_node::stop() { state_->stop(); }
void simulated_node::go_on() { state_->go_on(); }
void simulated_node::restart() { state_->restart(true); }
void simulated_node::forget() { state_->restart(false); }
void simulated_node::round_trip(std::chrono::nanoseconds time) { state_->set_round_trip(time); }
void simulated_node::set_clock(std::chrono::nanoseconds by) { state_->set_clock(by); }

}  // namespace redlock::testing
