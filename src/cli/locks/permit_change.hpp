// `redlock semaphore NAME --permits K`: changes the number of permits, and says what it waits for.
#ifndef REDLOCK_CLI_LOCKS_PERMIT_CHANGE_HPP
#define REDLOCK_CLI_LOCKS_PERMIT_CHANGE_HPP

#include "cli/locks/semaphore_view.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/notes.hpp"
#include "cli/servers/glance.hpp"

#include <redlock/json.hpp>
#include <redlock/redlock.hpp>

#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

namespace redlock::cli {

class permit_change {
public:
    // Throws std::invalid_argument when the library refuses the name or the configuration.
    permit_change(semaphore_command_options const& options, settings const& from);
    permit_change(permit_change const&) = delete;
    permit_change& operator=(permit_change const&) = delete;
    ~permit_change();

    // Blocks until the number is changed and nobody holds a slot above it; or until that has failed, or a signal came, which it has told the user then.
    // Returns the exit code. It may be repeated, by another process, too, whatever became of it.
    int run();

private:
    enum class verdict { done, again, failed };

    void wait_for_nodes();
    std::exception_ptr change_once();
    verdict judge(std::exception_ptr const& problem);
    verdict after_a_race();
    int fail(int code, std::string const& why, std::string const& lines = {});
    void show_progress();
    void tell_progress(semaphore_view const& now);
    semaphore_view look();
    std::string what_is_kept();

    semaphore_command_options const& options_;
    config nodes_config_;
    lock_options lock_;
    asio::io_context io_{1};
    client nodes_;
    asio::signal_set signals_{io_};
    asio::cancellation_signal stop_;
    int ended_by_{0};  // the signal
    int code_{0};
    notes notes_{io_.get_executor()};
    asio::steady_timer progress_timer_{io_};
    std::optional<glance> glance_;
    std::string told_;  // whom it waits for, as it was said last
    bool is_waiting_{false};
};

}  // namespace redlock::cli

#endif
