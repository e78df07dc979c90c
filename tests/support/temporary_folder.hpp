// A folder of one's own that is gone with its owner.
#ifndef REDLOCK_TESTS_SUPPORT_TEMPORARY_FOLDER_HPP
#define REDLOCK_TESTS_SUPPORT_TEMPORARY_FOLDER_HPP

#include <filesystem>
#include <string>

#include <sys/types.h>

namespace redlock::testing {

/// Makes a folder under the system's temporary directory, and removes it with everything in it.
///
/// Only the process that made the folder removes it: a copy of the object in a forked child does nothing.
class temporary_folder {
public:
    /// Throws `std::system_error`. The folder's name starts with `prefix`.
    explicit temporary_folder(std::string const& prefix = "redlock-");
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    ~temporary_folder();

    std::filesystem::path const& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
    pid_t owner_;
};

}  // namespace redlock::testing

#endif
