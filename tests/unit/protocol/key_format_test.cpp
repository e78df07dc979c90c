// config::key_format: which texts are formats, what keys they make, and that locks keep their names.
#include "protocol/key_format.hpp"

#include <redlock/client.hpp>
#include <redlock/lock.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/test/unit_test.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

using detail::key_format;
using names = std::vector<std::string>;

// A client that never runs: locks are made, and nothing is asked.
struct with_format {
    explicit with_format(std::string const& format) : nodes{io.get_executor(), settings(format)} {}

    static config settings(std::string const& format)
    {
        auto made = config::from_urls({"redis://127.0.0.1:1"});
        made.key_format = format;
        return made;
    }

    std::string refusal(std::vector<std::string> of) const
    {
        try {
            lock const made{nodes, std::move(of)};
            return {};
        } catch (std::invalid_argument const& error) {
            return error.what();
        }
    }

    boost::asio::io_context io;
    client nodes;
};

std::string problem(std::string const& format)
{
    try {
        with_format::settings(format).validate();
        return {};
    } catch (config_error const& error) {
        return error.what();
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(key_formats)

BOOST_AUTO_TEST_CASE(keys_and_names)
{
    BOOST_TEST(key_format{}.raw());
    BOOST_TEST(key_format{"raw"}.raw());
    BOOST_TEST(key_format{"{0}"}.raw());
    BOOST_TEST(key_format{"raw"}.key_of("{0}\r\n") == "{0}\r\n");
    for (char const* format : {"raw", "locks/{0}"}) {  // in a shard of a Redis Cluster
        key_format const in_shard{format, "{s17}:"};
        BOOST_TEST(in_shard.key_of("a") == "{s17}:" + key_format{format}.key_of("a"));
        BOOST_TEST(in_shard.name_of(in_shard.key_of("a")) == "a");
        BOOST_TEST(!in_shard.raw());
    }
    for (auto const& [format, key] :
         {std::pair{"redlock:{0}", "redlock:x{0}"}, {"{0}-redislock", "x{0}-redislock"}, {"a b:{0}:c", "a b:x{0}:c"}}) {
        BOOST_TEST(!key_format{format}.raw());
        BOOST_TEST(key_format{format}.key_of("x{0}") == key);
        BOOST_TEST(key_format{format}.name_of(key) == "x{0}");
    }
}

BOOST_AUTO_TEST_CASE(what_is_no_format_is_refused)
{
    for (std::string const good : {"raw", "{0}", "redlock:{0}", "{0}-redislock", "raw{0}", "\xc3\xbc:{0}", ":fence{0}"})
        BOOST_TEST(problem(good) == "", good);
    BOOST_TEST(problem(std::string(253, 'x') + "{0}") == "");
    BOOST_TEST(problem(std::string(254, 'x') + "{0}") == "config::key_format is longer than 256 bytes");
    for (std::string const none : {"", "redlock:", "Raw", "{}", "{1}", "{0:x}"})
        BOOST_TEST(problem(none) == "config::key_format must be \"raw\", or have {0} where the name of the lock goes", none);
    for (std::string const more : {"{0}{0}", "{{0}}", "{{{0}}}", "{lock}:{0}", "redlock:{0}:{1}"})
        BOOST_TEST(problem(more) == "config::key_format has other braces than those of one {0}", more);
    for (std::string const kept : {":fence", ":want", ":published", ":permits"})
        BOOST_TEST(problem("lock:{0}" + kept) ==
                   "config::key_format makes keys that end in " + kept + ", which this library keeps for itself");
}

BOOST_AUTO_TEST_CASE(locks_are_known_by_their_names)
{
    with_format const with{"redlock:{0}"};
    lock const one{with.nodes, "x"};
    BOOST_TEST(one.name() == "x");
    BOOST_TEST((one.names() == names{"x"}));
    lock const of_a_list{with.nodes, names{"x"}};
    BOOST_TEST(of_a_list.name() == "x");
    lock const several{with.nodes, {"b", "a", "c"}};
    BOOST_TEST(several.name() == "a, b, c");
    BOOST_TEST((several.names() == names{"a", "b", "c"}));
}

// "a!:l" comes before "a:l", though "a" comes before "a!".
BOOST_AUTO_TEST_CASE(names_are_sorted_whatever_the_order_of_their_keys)
{
    with_format const with{"{0}:l"};
    lock const several{with.nodes, {"a!", "a"}};
    BOOST_TEST(several.name() == "a, a!");
    BOOST_TEST((several.names() == names{"a", "a!"}));
}

BOOST_AUTO_TEST_CASE(keys_of_the_library_are_refused)
{
    with_format const raw{"raw"}, prefixed{"redlock:{0}"}, other{"locks/{0}"};
    for (std::string const own : {"node", "hw", "wait"}) {
        BOOST_TEST(raw.refusal({own}) == "");
        BOOST_TEST(other.refusal({own}) == "");
        auto const text = "redlock::lock: the key is \"redlock:" + own + "\", which this library keeps for itself";
        BOOST_TEST(raw.refusal({"redlock:" + own}) == text);
        BOOST_TEST(prefixed.refusal({own}) == text);
        BOOST_TEST(prefixed.refusal({"a", own}) == text);
        BOOST_TEST(prefixed.refusal({"redlock:" + own}) == "");
    }
    for (with_format const* with : {&raw, &prefixed, &other}) {
        BOOST_TEST(with->refusal({""}) == "redlock::lock: the name is empty");
        BOOST_TEST(with->refusal({"a", "a"}) == "redlock::lock: the name \"a\" stands there twice");
        BOOST_TEST(with->refusal({"x:fence"}).find("x:fence\", which this library keeps for itself") != std::string::npos);
    }
    with_format const ends_like_it{"{0}ence"};
    BOOST_TEST(ends_like_it.refusal({"x:f"}) == "redlock::lock: the key is \"x:fence\", which this library keeps for itself");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
