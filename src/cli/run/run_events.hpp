// What `redlock run --events-fd` writes: the lines of json_log, and lines of the same form about the command. Without a descriptor it writes nothing.
// docs/cli.md describes the format.
#ifndef REDLOCK_CLI_RUN_RUN_EVENTS_HPP
#define REDLOCK_CLI_RUN_RUN_EVENTS_HPP

#include "cli/locks/semaphore_view.hpp"
#include "cli/output/event_stream.hpp"

#include <redlock/observer.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <sys/types.h>

namespace redlock::cli {

// Why `redlock run` ends. Its exit code does not tell, since the command may have ended with the same one.
enum class run_outcome {
    completed,  // the command has ended by itself
    not_started,  // the command cannot be executed, or was not found
    contended,
    permits_differ,
    no_majority,
    interrupted,  // a signal ended the waiting
    lost,
};

char const* to_string(run_outcome outcome) noexcept;

class run_events {
public:
    // `failed`: is told once when lines can be written no more, and why.
    run_events(asio::io_context& io, std::optional<int> descriptor, std::string lock, std::function<void(std::string const&)> failed);

    bool wanted() const noexcept { return stream_ != nullptr; }

    // Writes the events of a client; null without a descriptor. Must not be told anything after this object's end.
    std::shared_ptr<observer> client_observer() const;

    // `voting`: how many nodes have a vote.
    void waiting(lock_view const& lock, std::size_t voting, std::chrono::nanoseconds waited);
    void waiting(semaphore_view const& permits, std::size_t voting, std::chrono::nanoseconds waited);
    void command_started(std::uint64_t token, pid_t pid);
    // `status`: as waitpid() gives it.
    void command_ended(std::uint64_t token, int status);

    // The client is about to end. Nothing waits for the reader from now on.
    void end_soon();
    // The last line. Waits for the reader, for a second at most. Call it after the executor's run().
    void ended(int code, run_outcome outcome);

private:
    template <class Object>
    void write_later(Object const& event);

    asio::io_context& io_;
    std::string lock_;
    std::shared_ptr<event_stream> stream_;
    std::shared_ptr<bool> ending_{std::make_shared<bool>(false)};
};

}  // namespace redlock::cli

#endif
