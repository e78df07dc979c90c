// The bytes of a request of Boost.Redis, for who encodes commands without it: Boost.Redis encodes word by word, through strings and with a lookup for
// each, which costs more than everything else that is done to a message.
#ifndef REDLOCK_REDIS_REQUEST_BYTES_HPP
#define REDLOCK_REDIS_REQUEST_BYTES_HPP

#include <boost/redis/request.hpp>

#include <cstddef>
#include <string>

namespace redlock::detail {

// Clears the request, and returns the string that it keeps its bytes in as long as it exists.
std::string& bytes_of(boost::redis::request& what);

// The bytes of `what` are so many commands, and each has one answer.
void set_command_count(boost::redis::request& what, std::string& bytes, std::size_t commands);

}  // namespace redlock::detail

#endif
