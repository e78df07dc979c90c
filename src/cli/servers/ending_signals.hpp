// Signals that end a command in its own way.
#ifndef REDLOCK_CLI_SERVERS_ENDING_SIGNALS_HPP
#define REDLOCK_CLI_SERVERS_ENDING_SIGNALS_HPP

#include <boost/asio/signal_set.hpp>

#include <initializer_list>

namespace redlock::cli {

// Not those that this process was started to ignore: nohup ignores SIGHUP.
void add_unless_ignored(boost::asio::signal_set& signals, std::initializer_list<int> numbers);

}  // namespace redlock::cli

#endif
