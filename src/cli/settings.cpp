#include "cli/settings.hpp"

#include "cli/exit_codes.hpp"
#include "cli/text.hpp"

#include <cstdlib>

namespace redlock::cli {

namespace {

constexpr char const* variable = "REDLOCK_NODES";

settings from_list(std::string const& urls, std::string const& where)
{
    try {
        settings result;
        result.client = config::from_urls(split_list(urls));
        return result;
    } catch (config_error const& error) {
        throw failure{exit_code::config, where + ": " + error.what()};
    }
}

}  // namespace

settings settings_of(node_options const& options)
{
    if (!options.urls.empty() && !options.config_file.empty())
        throw failure{exit_code::usage, "--nodes and --config both say which nodes there are; give one of them"};
    if (!options.urls.empty()) return from_list(options.urls, "--nodes");
    if (!options.config_file.empty()) {
        try {
            return load_settings(options.config_file);
        } catch (config_error const& error) {
            throw failure{exit_code::config, error.what()};
        }
    }
    char const* const listed = std::getenv(variable);
    if (listed != nullptr && *listed != '\0') return from_list(listed, variable);
    throw failure{exit_code::usage, std::string{"there are no nodes: give --nodes redis://host1,redis://host2,redis://host3, set "} +
                                        variable + " to such a list, or give --config FILE.json"};
}

void check_name(std::string const& name)
{
    if (name.empty()) throw failure{exit_code::usage, "the name of a lock is empty"};
}

}  // namespace redlock::cli
