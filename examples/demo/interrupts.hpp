// Ctrl-C and its like become ordinary exceptions at well-chosen places, so that destructors clean up.
#ifndef REDLOCK_DEMO_INTERRUPTS_HPP
#define REDLOCK_DEMO_INTERRUPTS_HPP

#include <chrono>
#include <exception>

namespace demo {

class interrupted : public std::exception {
public:
    char const* what() const noexcept override { return "interrupted"; }
};

// From here on SIGINT, SIGTERM, SIGHUP and SIGQUIT wait until pause() looks for them. Ctrl-Z does nothing: a frozen holder
// cannot leave its section, and only what it writes to can stop it, by its token.
void hold_interrupts();

// For a forked worker: the terminal sends Ctrl-C to the whole group, and the parent ends the workers in good order.
void leave_interrupts_to_parent();

// Sleeps. Throws `interrupted` at once when one of those signals arrives or has arrived.
void pause(std::chrono::milliseconds length);

}  // namespace demo

#endif
