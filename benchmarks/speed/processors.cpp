#include "processors.hpp"

#include "forked.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

#include <sched.h>
#include <unistd.h>

namespace bench {

namespace {

std::vector<int> processors()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) throw std::system_error{errno, std::generic_category(), "sched_getaffinity"};
    std::vector<int> all;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed)) all.push_back(i);
    return all;
}

void pin(pid_t process, std::vector<int> const& to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int const i : to) CPU_SET(i, &set);
    if (::sched_setaffinity(process, sizeof set, &set) != 0) throw std::system_error{errno, std::generic_category(), "sched_setaffinity"};
}

// The last processor is the clients'.
std::vector<int> servers_processors()
{
    auto all = processors();
    if (all.size() > 1) all.pop_back();
    return all;
}

// One each if there are enough, otherwise the kernel shares them among the servers.
void pin_all(auto const& servers)
{
    auto const rest = servers_processors();
    for (std::size_t i = 0; i < servers.size(); ++i)
        pin(servers[i].pid(), servers.size() <= rest.size() ? std::vector<int>{rest[i]} : rest);
}

}  // namespace

void use_all_processors()
{
    std::vector<int> all;
    for (int i = 0; i < CPU_SETSIZE; ++i) all.push_back(i);
    pin(0, all);
}

void keep_off_the_clients_processor() { pin(0, servers_processors()); }

void pin_servers(fleet const& servers) { pin_all(servers); }
void pin_servers(std::deque<redlock::testing::redis_server> const& servers) { pin_all(servers); }

void fill_in_client_process(void* result, std::size_t size, std::function<void()> const& body)
{
    int ends[2];
    if (::pipe(ends) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
    forked worker{[&] {
        pin(0, {processors().back()});
        body();
        if (::write(ends[1], result, size) != static_cast<ssize_t>(size)) throw std::runtime_error{"the pipe is closed"};
    }};
    ::close(ends[1]);
    ssize_t const got = ::read(ends[0], result, size);
    ::close(ends[0]);
    worker.join();
    if (got != static_cast<ssize_t>(size)) throw std::runtime_error{"a worker said nothing"};
}

}  // namespace bench
