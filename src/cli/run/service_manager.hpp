// Tells the service manager that listens at NOTIFY_SOCKET (usually systemd) the state of `redlock run`: the protocol of sd_notify(3). Without that
// variable it does nothing.
#ifndef REDLOCK_CLI_RUN_SERVICE_MANAGER_HPP
#define REDLOCK_CLI_RUN_SERVICE_MANAGER_HPP

#include <functional>
#include <string>

namespace redlock::cli {

inline constexpr char const* notify_variable = "NOTIFY_SOCKET";

class service_manager {
public:
    // `address`: a path, or '@' and the name of an abstract socket; null or empty: nobody listens. `command_speaks`: the command says itself when it
    // is ready and when it stops, so only the status is told. `failed` is told once why something could not be sent. What comes later is sent
    // nevertheless: a manager that has missed a status must hear READY=1, or it ends the service when its time for the start is over.
    service_manager(char const* address, bool command_speaks, std::function<void(std::string const&)> failed);

    bool listens() const noexcept { return !address_.empty(); }

    // `text`: one line for people.
    void status(std::string const& text);
    void ready(std::string const& text);
    // Sends STOPPING=1 the first time.
    void stopping(std::string const& text);

private:
    void send(std::string const& assignments);

    std::string address_;
    bool command_speaks_;
    bool stopping_{false};
    bool failure_said_{false};
    std::function<void(std::string const&)> failed_;
};

// Sends one datagram to a socket of the file system or, with a leading '@', to an abstract one. Returns why that failed; empty: it did not.
std::string send_to_unix_socket(std::string const& address, std::string const& datagram);

}  // namespace redlock::cli

#endif
