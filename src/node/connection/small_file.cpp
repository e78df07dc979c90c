#include "node/connection/small_file.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::detail {

namespace {

[[noreturn]] void fail(std::string const& path, std::string const& what) { throw file_error{path + ' ' + what}; }

[[noreturn]] void fail_with_errno(std::string const& path)
{
    int const code = errno;
    fail(path, "cannot be read: " + std::generic_category().message(code));
}

struct open_file {
    explicit open_file(std::string const& path) : descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {}
    open_file(open_file const&) = delete;
    open_file& operator=(open_file const&) = delete;
    ~open_file()
    {
        if (descriptor >= 0) ::close(descriptor);
    }
    int const descriptor;
};

}  // namespace

std::string read_small_file(std::string const& path, std::size_t max_size)
{
    open_file const file{path};
    struct stat facts{};
    if (file.descriptor < 0 || ::fstat(file.descriptor, &facts) != 0) fail_with_errno(path);
    if (!S_ISREG(facts.st_mode)) fail(path, "is not a regular file");

    // One more byte than it has, or than it may have, shows whether it ends there. It may grow meanwhile.
    std::string text(std::min(static_cast<std::size_t>(facts.st_size), max_size) + 1, '\0');
    std::size_t size = 0;
    for (;;) {
        if (size == text.size() && size > max_size) break;
        if (size == text.size()) text.resize(std::min(2 * size, max_size + 1));
        auto const count = ::read(file.descriptor, text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_with_errno(path);
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    if (size > max_size) fail(path, "is larger than " + std::to_string(max_size >> 10) + " KiB");
    text.resize(size);
    return text;
}

}  // namespace redlock::detail
