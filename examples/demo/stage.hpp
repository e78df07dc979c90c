// Time passes here: while the script waits, the stage shows what the workers do and looks after them.
#ifndef REDLOCK_DEMO_STAGE_HPP
#define REDLOCK_DEMO_STAGE_HPP

#include "crew.hpp"
#include "fleet.hpp"
#include "shared_board.hpp"
#include "timeline.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace demo {

class stage {
public:
    // All must outlive the stage. The demo's time starts now.
    stage(board& on_board, fleet& of_servers, crew& of_workers, timeline& lines);

    // All of these throw `interrupted` and `output_closed`.
    void wait_for(std::chrono::milliseconds length);

    // Whether the condition came true within `at_most`.
    bool wait_for(std::function<bool()> const& condition, std::chrono::milliseconds at_most);

    void say(std::string subject, std::string words, tone what);
    void say_of_node(std::size_t node, std::string words, tone what);

    std::chrono::nanoseconds elapsed() const { return redlock::boot_clock::now() - start_; }

    board& shared;
    fleet& servers;
    crew& workers;

private:
    void tick();
    void show(event const& what);

    timeline& lines_;
    redlock::boot_clock::time_point start_;
};

}  // namespace demo

#endif
