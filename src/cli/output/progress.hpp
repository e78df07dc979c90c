// What a command says on stdout while it changes something, or waits for a limited time: it goes on when nobody reads, and tells of that in the end.
#ifndef REDLOCK_CLI_OUTPUT_PROGRESS_HPP
#define REDLOCK_CLI_OUTPUT_PROGRESS_HPP

#include "cli/output/event_stream.hpp"

#include <boost/asio/io_context.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

class progress {
public:
    progress();

    // Waits for the reader as check() does.
    ~progress();

    void say(std::string_view text);

    // Waits for the reader, for a second at most. Throws failure when something was not written.
    void check();

private:
    asio::io_context io_{1};  // which nobody runs
    std::string problem_;  // why something was not written; empty: all was
    std::optional<event_stream> to_;  // none: it cannot be written to
};

}  // namespace redlock::cli

#endif
