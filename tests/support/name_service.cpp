#include "support/name_service.hpp"

#include <condition_variable>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>

#include <dlfcn.h>
#include <netdb.h>

namespace redlock::testing::name_service {

namespace {

struct made_up_name {
    std::vector<std::string> addresses;
    bool hangs{false};
    std::size_t lookups{0};
};

struct service {
    // For a program that cannot call us: "NAME=ADDRESS,ADDRESS NAME=hang".
    service()
    {
        auto const* const text = std::getenv("REDLOCK_TEST_NAMES");
        std::istringstream words{text ? text : ""};
        for (std::string word; words >> word;) {
            auto const end = word.find('=');
            auto& name = names[word.substr(0, end)];
            std::istringstream list{word.substr(end + 1)};
            for (std::string address; std::getline(list, address, ',');) {
                if (address == "hang") name.hangs = true;
                else name.addresses.push_back(address);
            }
        }
    }

    std::mutex mutex;
    std::condition_variable answered;
    std::map<std::string, made_up_name> names;
    std::size_t generation{0};
    std::size_t hanging{0};
};

// Lookups may outlive main().
service& the_service()
{
    static service& one = *new service;
    return one;
}

}  // namespace

void set(std::string const& name, std::vector<std::string> const& addresses)
{
    std::lock_guard const guard{the_service().mutex};
    the_service().names[name] = {addresses, false, the_service().names[name].lookups};
}

void hang(std::string const& name)
{
    std::lock_guard const guard{the_service().mutex};
    the_service().names[name].hangs = true;
}

void answer_all()
{
    std::lock_guard const guard{the_service().mutex};
    for (auto& [name, each] : the_service().names) each.hangs = false;
    ++the_service().generation;
    the_service().answered.notify_all();
}

std::size_t lookups(std::string const& name)
{
    std::lock_guard const guard{the_service().mutex};
    return the_service().names[name].lookups;
}

std::size_t hanging()
{
    std::lock_guard const guard{the_service().mutex};
    return the_service().hanging;
}

}  // namespace redlock::testing::name_service

// Instead of the C library's.
extern "C" int getaddrinfo(char const* name, char const* port, addrinfo const* hints, addrinfo** result)
{
    using namespace redlock::testing::name_service;
    static auto* const real = reinterpret_cast<decltype(&::getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    auto& one = the_service();
    std::unique_lock guard{one.mutex};
    auto const found = name ? one.names.find(name) : one.names.end();
    if (found == one.names.end()) {
        guard.unlock();
        return real(name, port, hints, result);
    }
    ++found->second.lookups;
    if (found->second.hangs) {
        ++one.hanging;
        one.answered.wait(guard, [&, before = one.generation] { return one.generation != before; });
        --one.hanging;
    }
    addrinfo** end = result;
    *end = nullptr;
    for (std::string const& address : found->second.addresses) {
        if (int const error = real(address.c_str(), port, hints, end)) return error;
        while (*end) end = &(*end)->ai_next;
    }
    return *result ? 0 : EAI_NONAME;
}
