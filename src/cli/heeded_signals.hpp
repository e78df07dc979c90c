// Signals that end a command in its own way.
#ifndef REDLOCK_CLI_HEEDED_SIGNALS_HPP
#define REDLOCK_CLI_HEEDED_SIGNALS_HPP

#include <boost/asio/signal_set.hpp>

#include <initializer_list>

namespace redlock::cli {

// Adds those that this process was not started to ignore: nohup ignores SIGHUP.
void heed(boost::asio::signal_set& signals, std::initializer_list<int> numbers);

}  // namespace redlock::cli

#endif
