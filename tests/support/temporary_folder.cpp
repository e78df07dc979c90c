#include "temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <unistd.h>

namespace redlock::testing {

temporary_folder::temporary_folder(std::string const& prefix) : owner_{::getpid()}
{
    auto name = (std::filesystem::temp_directory_path() / (prefix + "XXXXXX")).string();
    if (::mkdtemp(name.data()) == nullptr)
        throw std::system_error{errno, std::generic_category(), "cannot make a temporary folder " + name};
    path_ = name;
}

temporary_folder::~temporary_folder()
{
    if (::getpid() != owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace redlock::testing
