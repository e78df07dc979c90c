// Names that tests make up. A program with name_service.cpp among its sources resolves them by it, and so does one that gets it by LD_PRELOAD.
#ifndef REDLOCK_TESTS_SUPPORT_NAME_SERVICE_HPP
#define REDLOCK_TESTS_SUPPORT_NAME_SERVICE_HPP

#include <cstddef>
#include <string>
#include <vector>

namespace redlock::testing::name_service {

// The name leads to these addresses, in this order.
void set(std::string const& name, std::vector<std::string> const& addresses);

// Each lookup of the name waits until answer_all() is called, or for ever.
void hang(std::string const& name);
void answer_all();  // with "not found", unless the name was set since

std::size_t lookups(std::string const& name);  // so far
std::size_t hanging();  // now

}  // namespace redlock::testing::name_service

#endif
