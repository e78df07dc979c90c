// The servers of story tests and of the simulation do what a real server does: the same random commands to both.
#include "node/scripts.hpp"
#include "support/redis_model.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <optional>
#include <random>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;
using detail::command;
using detail::verb;

// Longer than the test can take, so that nothing expires but what a command lets expire.
constexpr std::chrono::milliseconds long_ttl{100'000};

struct both {
    redis_server server;
    resp_client real{loopback::ipv4, server.port(), 60s};
    redis_model model;
    time_point const now{1h};

    bool really_granted(command const& c)
    {
        std::string const key{c.key};
        std::string const value{c.value};
        auto const ttl = std::to_string(c.ttl.count());
        switch (c.what) {
        case verb::acquire: return real.ask({"SET", key, value, "NX", "PX", ttl}).text == "OK";
        case verb::extend: {
            auto const answer = real.ask({"EVAL", std::string{detail::extend_script().text}, "1", key, value, ttl});
            BOOST_REQUIRE(answer.items.size() == 1u);
            return answer.items[0] == "1";
        }
        case verb::release: return real.ask({"EVAL", std::string{detail::release_script().text}, "1", key, value}).text == "1";
        }
        return false;
    }

    std::optional<std::string> really_there(std::string const& key)
    {
        auto const answer = real.ask({"GET", key});
        return answer.is_nil() ? std::nullopt : std::optional{answer.text};
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_FIXTURE_TEST_CASE(random_commands_have_the_same_answers_and_leave_the_same_keys, both)
{
    constexpr std::array keys{"a", "b"};
    constexpr std::array values{"one", "two", "three"};
    constexpr std::array verbs{verb::acquire, verb::acquire, verb::extend, verb::release};
    std::minstd_rand random{7};
    std::array<int, 3> granted{};
    std::array<int, 3> refused{};
    for (int i = 0; i < 5'000; ++i) {
        std::string const key = keys[random() / 7 % keys.size()];
        command const c{verbs[random() / 7 % verbs.size()], key, values[random() / 7 % values.size()], long_ttl};
        bool const yes = model.execute(c, now).vote == vote::granted;
        ++(yes ? granted : refused).at(static_cast<std::size_t>(c.what));
        BOOST_REQUIRE_MESSAGE(really_granted(c) == yes, "command " << i << " on " << key);
        auto const* const entry = model.find(key, now);
        BOOST_REQUIRE(really_there(key) == (entry ? std::optional{entry->value} : std::nullopt));
        if (entry) BOOST_REQUIRE(real.ask({"PTTL", key}).text != "-1");
    }
    for (int const n : granted) BOOST_TEST(n > 100);
    for (int const n : refused) BOOST_TEST(n > 100);
}

BOOST_FIXTURE_TEST_CASE(an_extension_sets_the_whole_ttl_again, both)
{
    command const set{verb::acquire, "a", "one", 10'000ms};
    command const extend{verb::extend, "a", "one", long_ttl};
    BOOST_REQUIRE((model.execute(set, now).vote == vote::granted && really_granted(set)));
    BOOST_REQUIRE((model.execute(extend, now).vote == vote::granted && really_granted(extend)));
    BOOST_TEST(std::stol(real.ask({"PTTL", "a"}).text) > 60'000);
    BOOST_TEST(model.find("a", now + long_ttl) != nullptr);
    BOOST_TEST(model.find("a", now + long_ttl + 1ms) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
