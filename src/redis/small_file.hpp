// Files that connections need, read again for each: what replaces one applies at the next connection.
#ifndef REDLOCK_REDIS_SMALL_FILE_HPP
#define REDLOCK_REDIS_SMALL_FILE_HPP

#include <cstddef>
#include <stdexcept>
#include <string>

namespace redlock::detail {

// What is wrong with a file, in words that begin with its path, and never with what it contains.
class file_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Throws `file_error`. Only a regular file: reading anything else could take for ever.
std::string read_small_file(std::string const& path, std::size_t size_max);

}  // namespace redlock::detail

#endif
