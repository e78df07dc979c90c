// A set of nodes that changes its members, for the tests of redlock nodes.
#ifndef REDLOCK_TESTS_CLI_CHANGING_SET_HPP
#define REDLOCK_TESTS_CLI_CHANGING_SET_HPP

#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {

using namespace std::chrono_literals;

// Three servers are a set, and two more are new.
struct changing_set : servers {
    static constexpr auto max_ttl = 6'000ms, ttl = 5'000ms;  // a loaded machine must not lose leases

    changing_set() : servers{5} { BOOST_TEST_REQUIRE(of(old_list, {"run", "first", "--bootstrap", "--", "true"}).code == 0); }

    struct ended {
        int code;
        std::string output, errors;
    };

    arguments with_list(std::vector<std::size_t> const& some, arguments words) const
    {
        nlohmann::json urls = nlohmann::json::array();
        std::string name = "nodes";
        for (auto const i : some) urls.push_back(all[i].url()), name += std::to_string(i);
        auto const file = folder.path() / (name + ".json");
        nlohmann::json const c{{"nodes", urls},
                               {"max_ttl_ms", max_ttl.count()},
                               {"lock", {{"ttl_ms", ttl.count()}, {"node_timeout_ms", 2'000}}}};
        if (!std::filesystem::exists(file)) std::ofstream{file} << c;  // another process may be reading it
        words.insert(words.begin() + 1, {"--config", file.string()});
        return words;
    }

    ended of(std::vector<std::size_t> const& some, arguments words) const
    {
        program p{with_list(some, std::move(words))};
        int const code = p.wait(120s);
        return {code, p.output(), p.errors()};
    }

    arguments replacing(std::size_t leaves, std::size_t joins, std::vector<std::size_t> const& list) const
    {
        return with_list(list, {"nodes", "replace", all[leaves].url(), all[joins].url(), "--timeout", "3s"});
    }

    ended replace(std::size_t leaves, std::size_t joins, std::vector<std::size_t> const& list) const
    {
        program p{replacing(leaves, joins, list)};
        int const code = p.wait(120s);
        return {code, p.output(), p.errors()};
    }

    int tries(std::vector<std::size_t> const& list, std::string const& name) const
    {
        return of(list, {"run", name, "--wait", "20s", "--", "true"}).code;
    }
    // Somebody else holds "job". Not only one attempt: while a member that left still runs, a process with the old list may hear from it first.
    void check_held(std::vector<std::size_t> const& list) const
    {
        auto const e = of(list, {"run", "job", "--wait", "4s", "--", "true"});
        BOOST_TEST(e.code == 75, "code " << e.code << ": " << e.errors);
    }

    // Holds "job" until the object is destroyed, with the old list or this one.
    struct holder {
        explicit holder(changing_set const& of) : holder{of, of.old_list} {}
        holder(changing_set const& of, std::vector<std::size_t> const& list)
            : runs{of.with_list(list, {"run", "job", "--", "sh", "-c", "echo held; exec sleep 600"})}
        {
            BOOST_TEST_REQUIRE(eventually([this] { return contains(runs.output(), "held"); }));
        }
        ~holder()
        {
            BOOST_TEST(runs.running());
            runs.send(SIGTERM);
            int const code = runs.wait();
            BOOST_TEST(code == 128 + SIGTERM, runs.errors());
        }
        program runs;
    };

    std::vector<std::size_t> const old_list{0, 1, 2}, new_list{0, 1, 3};
};

}  // namespace redlock::testing

#endif
