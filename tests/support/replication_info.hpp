// Which server it is, and in what role: the answer to INFO replication.
#ifndef REDLOCK_TESTS_SUPPORT_REPLICATION_INFO_HPP
#define REDLOCK_TESTS_SUPPORT_REPLICATION_INFO_HPP

#include <stdexcept>
#include <string>
#include <string_view>

namespace redlock::testing {

struct replication_info {
    explicit replication_info(std::string_view info) : id{line(info, "master_replid:")}, role{line(info, "role:")} {}

    std::string id;    // a new one after each restart
    std::string role;  // master, slave

private:
    static std::string line(std::string_view info, std::string_view name)
    {
        auto const at = info.find(name);
        if (at == std::string_view::npos) throw std::runtime_error{"no " + std::string{name} + " in: " + std::string{info}};
        auto const value = info.substr(at + name.size());
        return std::string{value.substr(0, value.find('\r'))};
    }
};

}  // namespace redlock::testing

#endif
