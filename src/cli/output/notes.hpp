// What a command says on stderr while it does something else. It waits for no reader: a full pipe, or a terminal that was stopped with Ctrl-S, must
// keep no signal from it.
#ifndef REDLOCK_CLI_OUTPUT_NOTES_HPP
#define REDLOCK_CLI_OUTPUT_NOTES_HPP

#include "cli/output/event_stream.hpp"

#include <string>

namespace redlock::cli {

class notes {
public:
    explicit notes(asio::any_io_executor const& executor);

    // Waits for the reader, for a second at most.
    ~notes();

    // `text`: without the name of the program and the end of the line.
    void say(std::string const& text);

    // From now on nothing waits for the reader any more, so that the executor's run() can return.
    void stop_waiting();

private:
    event_stream to_;
};

// The same of a command that does nothing else meanwhile: the reader has a second.
void say_on_stderr(std::string const& text);

}  // namespace redlock::cli

#endif
