// What happens in the demo, and when.
#ifndef REDLOCK_DEMO_PLAY_HPP
#define REDLOCK_DEMO_PLAY_HPP

#include "stage.hpp"

namespace demo {

// About twenty seconds. Returns when all workers have ended, or have not in time.
void play(stage& show);

}  // namespace demo

#endif
