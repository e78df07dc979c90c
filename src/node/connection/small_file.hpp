// Files that connections need: passwords and certificates. They are read anew for each connection, so a new file counts from the next one on.
#ifndef REDLOCK_NODE_CONNECTION_SMALL_FILE_HPP
#define REDLOCK_NODE_CONNECTION_SMALL_FILE_HPP

#include <cstddef>
#include <stdexcept>
#include <string>

namespace redlock::detail {

// Says why a file cannot be used. The text begins with the path, and repeats nothing of the contents.
class file_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

// Reads a whole file. Throws `file_error` if the file cannot be read, is larger than `max_size`, or is not a regular file: a pipe could block for
// ever.
std::string read_small_file(std::string const& path, std::size_t max_size);

}  // namespace redlock::detail

#endif
