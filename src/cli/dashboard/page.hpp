// The page of `redlock dashboard`, as it is sent: page.html with page.css and page.js in it. CMake makes page.cpp from page.cpp.in.
#ifndef REDLOCK_CLI_DASHBOARD_PAGE_HPP
#define REDLOCK_CLI_DASHBOARD_PAGE_HPP

#include <string_view>

namespace redlock::cli {

std::string_view dashboard_page() noexcept;

}  // namespace redlock::cli

#endif
