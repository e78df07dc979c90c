#include "unit/message_support.hpp"

#include <redlock/config.hpp>

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace redlock {

namespace {

node_address parsed(std::string_view url) { return node_address::from_url(url); }

std::string problem_with_address(std::string_view url)
{
    return message_of<config_error>([&] { node_address::from_url(url); });
}

void check_problem(std::string_view url, std::string_view expected)
{
    std::string const text = problem_with_address(url);
    BOOST_TEST(contains(text, expected), url << ": \"" << text << '"');
    BOOST_TEST(text.starts_with("the URL"), text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(addresses)

BOOST_AUTO_TEST_CASE(a_host_is_enough)
{
    node_address const address = parsed("redis://10.0.0.1");
    BOOST_TEST(address.host == "10.0.0.1");
    BOOST_TEST(address.port == 6379);
    BOOST_TEST(address.username == "default");
    BOOST_TEST(address.password == "");
    BOOST_TEST(address.database == 0);
}

BOOST_AUTO_TEST_CASE(everything_that_a_url_can_hold)
{
    node_address const address = parsed("redis://app:s3cret@cache-1.example_net:7001/15");
    BOOST_TEST(address.host == "cache-1.example_net");
    BOOST_TEST(address.port == 7001);
    BOOST_TEST(address.username == "app");
    BOOST_TEST(address.password == "s3cret");
    BOOST_TEST(address.database == 15);
}

BOOST_AUTO_TEST_CASE(a_password_without_a_user_belongs_to_the_default_user)
{
    node_address const address = parsed("redis://:s3cret@localhost");
    BOOST_TEST(address.username == "default");
    BOOST_TEST(address.password == "s3cret");
}

BOOST_AUTO_TEST_CASE(the_scheme_may_be_in_capitals) { BOOST_TEST(parsed("REDIS://localhost").host == "localhost"); }

BOOST_AUTO_TEST_CASE(user_and_password_may_be_percent_encoded)
{
    node_address const address = parsed("redis://a%40b:p%2Fq%3a%3F%23%25%e2%82%AC@h");
    BOOST_TEST(address.username == "a@b");
    BOOST_TEST(address.password == "p/q:?#%\xe2\x82\xac");
}

BOOST_AUTO_TEST_CASE(a_password_may_contain_colons) { BOOST_TEST(parsed("redis://app:a:b:c@h").password == "a:b:c"); }

BOOST_AUTO_TEST_CASE(ipv6_addresses_stand_in_brackets)
{
    BOOST_TEST(parsed("redis://[::1]").host == "::1");
    BOOST_TEST(parsed("redis://[2001:db8::17]:7000/2").host == "2001:db8::17");
    BOOST_TEST(parsed("redis://[2001:db8::17]:7000/2").port == 7000);
    BOOST_TEST(parsed("redis://u:p@[::ffff:10.0.0.1]:1").host == "::ffff:10.0.0.1");
    BOOST_TEST(parsed("redis://[fe80::1%25eth0]").host == "fe80::1%eth0");
}

BOOST_AUTO_TEST_CASE(ports_and_databases_at_their_bounds)
{
    BOOST_TEST(parsed("redis://h:1").port == 1);
    BOOST_TEST(parsed("redis://h:65535").port == 65535);
    BOOST_TEST(parsed("redis://h/").database == 0);
    BOOST_TEST(parsed("redis://h/65535").database == 65535);
}

BOOST_AUTO_TEST_CASE(three_schemes_are_known)
{
    check_problem("", "the URL is empty");
    check_problem("localhost:6379", "no scheme; write redis://host:port");
    check_problem("redis:localhost", "no scheme");
    for (auto url : {"http://localhost", "://localhost", "redis+unix:///run/redis.sock", "redisss://localhost"})
        check_problem(url, "scheme must be redis://, rediss:// (with TLS), unix://, redis+sentinel://, rediss+sentinel:// (with TLS), "
                           "redis-cluster:// or rediss-cluster:// (with TLS)");
}

BOOST_AUTO_TEST_CASE(tls_is_a_scheme_and_verifies_by_itself)
{
    BOOST_TEST(!parsed("redis://h").tls);
    auto const address = parsed("REDISS://app:p@[::1]:7000/3?replicas=1");
    BOOST_REQUIRE(address.tls.has_value());
    BOOST_TEST((*address.tls == tls_options{}));
    BOOST_TEST(address.tls->verify);
    BOOST_TEST(address.host == "::1");
    BOOST_TEST(address.database == 3u);
    BOOST_TEST(address.replicas == 1u);
    BOOST_TEST((address != parsed("redis://app:p@[::1]:7000/3?replicas=1")));
}

BOOST_AUTO_TEST_CASE(parameters_of_tls)
{
    auto const address = parsed(
        "rediss://h?ca_file=/ca%20s/a.pem&ca_path=ca&certificate_file=c.pem&key_file=%2fk.pem&server_name=x.example&verify=no");
    tls_options const expected{.ca_file = "/ca s/a.pem",
                               .ca_path = "ca",
                               .certificate_file = "c.pem",
                               .key_file = "/k.pem",
                               .server_name = "x.example",
                               .verify = false};
    BOOST_REQUIRE(address.tls.has_value());
    BOOST_TEST((*address.tls == expected));
    BOOST_TEST(parsed("rediss://h?verify=yes").tls->verify);

    for (auto name : {"ca_file", "ca_path", "certificate_file", "key_file", "server_name", "verify"}) {
        check_problem("redis://h?" + std::string{name} + "=x", "a parameter that is not known");
        check_problem("unix:///s?" + std::string{name} + "=x", "a parameter that is not known");
    }
    check_problem("rediss://h?verify=false", "verify must be yes or no");
    check_problem("rediss://h?verify", "verify must be yes or no");
    check_problem("rediss://h?ca_file=", "ca_file is empty");
    check_problem("rediss://h?ca_file", "ca_file is empty");
    check_problem("rediss://h?ca_file=a%00b", "the ca_file contains a control character");
    check_problem("rediss://h?ca_path=%g", "two hexadecimal digits");
    check_problem("rediss://h?key_file=k", "a key_file but no certificate_file");
    check_problem("rediss://h?server_name=a%20b", "the server_name contains a space");
}

// What verifies nothing is seen wherever the node is named.
BOOST_AUTO_TEST_CASE(without_verification_the_name_says_so)
{
    BOOST_TEST(parsed("rediss://h").to_string() == "h:6379");
    BOOST_TEST(parsed("rediss://h?verify=no").to_string() == "h:6379 (TLS, not verified)");
}

BOOST_AUTO_TEST_CASE(unix_sockets_have_a_path)
{
    auto const address = parsed("unix:///run/redis%20a/redis.sock");
    BOOST_TEST(address.unix_socket == "/run/redis a/redis.sock");
    BOOST_TEST(address.host == "");
    BOOST_TEST(address.to_string() == "unix:/run/redis a/redis.sock");
    auto const all = parsed("unix://app:p@/s?db=7&replicas=2&fsync=yes");
    BOOST_TEST(all.unix_socket == "/s");
    BOOST_TEST(all.username == "app");
    BOOST_TEST(all.password == "p");
    BOOST_TEST(all.database == 7u);
    BOOST_TEST(all.replicas == 2u);
    BOOST_TEST(all.fsync);

    for (auto url : {"unix://", "unix:///", "unix://run/redis.sock", "unix://u:p@host/s", "unix://u:p@"})
        check_problem(url, "must be followed by an absolute path, as in unix:///run/redis.sock");
    check_problem("unix:///s?db=65536", "database is not a number");
    check_problem("unix:///s%00x", "the unix_socket contains a control character");
    check_problem("unix:///" + std::string(200, 'a'), "longer than 107 characters");
}

BOOST_AUTO_TEST_CASE(a_password_may_be_elsewhere)
{
    BOOST_TEST(parsed("redis://h?password_file=/run/secrets/redis").password_file == "/run/secrets/redis");
    BOOST_TEST(parsed("redis://h?password_env=REDIS_PASSWORD").password_env == "REDIS_PASSWORD");
    auto const with_user = parsed("rediss://app@h?password_file=/p");
    BOOST_TEST(with_user.username == "app");
    BOOST_TEST(with_user.password == "");
    BOOST_TEST(parsed("unix://app@/s?password_env=P").username == "app");

    check_problem("redis://h?password_file=secret", "the password_file must be an absolute path");
    check_problem("redis://h?password_file=/a%0Ab", "the password_file contains a control character");
    check_problem("redis://h?password_file=", "password_file is empty");
    check_problem("redis://h?password_env=", "password_env is empty");
    check_problem("redis://h?password_env=A%3DB", "cannot be the name of a variable");
    check_problem("redis://u:p@h?password_env=A", "only one of password, password_file and password_env");
    check_problem("redis://h?password_env=A&password_file=/a", "only one of password, password_file and password_env");
    check_problem("redis://@h?password_env=A", "has no password before its '@'");
}

BOOST_AUTO_TEST_CASE(a_bad_port_is_refused)
{
    for (auto url : {"redis://h:", "redis://h:0", "redis://h:65536", "redis://h:4294967297", "redis://h:x", "redis://h:63a", "redis://h:-1",
                     "redis://h:+1", "redis://[::1]:0", "redis://[::1]:", "redis://h:99999999999999999999"})
        check_problem(url, "port is not a number between 1 and 65535");
}

BOOST_AUTO_TEST_CASE(a_bad_database_is_refused)
{
    for (auto url : {"redis://h/65536", "redis://h/x", "redis://h/1x", "redis://h/-1", "redis://h/1/2", "redis://h//",
                     "redis://h/99999999999999999999"})
        check_problem(url, "database is not a number between 0 and 65535");
}

BOOST_AUTO_TEST_CASE(a_bad_host_is_refused)
{
    check_problem("redis://", "host is empty");
    check_problem("redis://:6379", "host is empty");
    check_problem("redis:///3", "host is empty");
    check_problem("redis://u:p@/3", "host is empty");
    check_problem("redis://h\xc3\xa9", "a character other than letters, digits");
    check_problem("redis://h%20x", "a character other than letters, digits");
    check_problem("redis://a,b", "a character other than letters, digits");
    check_problem("redis://h]", "a character other than letters, digits");
    check_problem("redis://...", "no letter or digit");
    check_problem("redis://" + std::string(254, 'a'), "longer than 253 characters");
}

BOOST_AUTO_TEST_CASE(spaces_and_control_characters_are_refused)
{
    for (char const bad : {' ', '\t', '\n', '\r', '\x7f', '\0'}) {
        for (std::string url : {"redis://h?", "redis://h?i", "?redis://h", "redis://u:p?q@h"}) {
            url[url.find('?')] = bad;
            check_problem(url, "a space or a control character");
        }
    }
}

BOOST_AUTO_TEST_CASE(a_bad_ipv6_address_is_refused)
{
    check_problem("redis://[::1", "no closing bracket");
    check_problem("redis://[::1:6379", "no closing bracket");
    check_problem("redis://::1", "must stand in brackets");
    check_problem("redis://2001:db8::1:6379", "must stand in brackets");
    check_problem("redis://[]", "not an IPv6 address");
    check_problem("redis://[10.0.0.1]", "not an IPv6 address");
    check_problem("redis://[::g]", "not an IPv6 address");
    check_problem("redis://[::1%00x]", "not an IPv6 address");
    check_problem("redis://[::1%25]", "not an IPv6 address");
    check_problem("redis://[::1]x", "something other than a port");
    check_problem("redis://[::1]6379", "something other than a port");
}

BOOST_AUTO_TEST_CASE(parameters_say_what_makes_a_vote_durable)
{
    BOOST_TEST(parsed("redis://h").replicas == 0u);
    BOOST_TEST(!parsed("redis://h").fsync);
    auto const both = parsed("redis://app:p@h:7000/3?replicas=2&fsync=yes");
    BOOST_TEST(both.host == "h");
    BOOST_TEST(both.port == 7000u);
    BOOST_TEST(both.password == "p");
    BOOST_TEST(both.database == 3u);
    BOOST_TEST(both.replicas == 2u);
    BOOST_TEST(both.fsync);
    BOOST_TEST(parsed("redis://[::1]?fsync=no&replicas=100").replicas == max_replicas);
    BOOST_TEST(!parsed("redis://[::1]?fsync=no&replicas=100").fsync);
    BOOST_TEST((parsed("redis://h?replicas=0") == parsed("redis://h?fsync=no")));
    BOOST_TEST((parsed("redis://h?replicas=1") != parsed("redis://h")));
    BOOST_TEST((parsed("redis://h?fsync=yes") != parsed("redis://h")));
    BOOST_TEST(both.to_string() == "h:7000");
}

BOOST_AUTO_TEST_CASE(bad_parameters_are_refused)
{
    for (auto url :
         {"redis://h?replicas=101", "redis://h?replicas=-1", "redis://h?replicas=", "redis://h?replicas", "redis://h?replicas=2x"})
        check_problem(url, "replicas are not a number between 0 and 100");
    for (auto url : {"redis://h?fsync=true", "redis://h?fsync=", "redis://h?fsync", "redis://h?fsync=YES"})
        check_problem(url, "fsync must be yes or no");
    for (auto url : {"redis://h?db=1", "redis://h/1?timeout=5", "redis://h?", "redis://h?replicas=1&", "redis://h?Replicas=1"})
        check_problem(url, "a parameter that is not known");
    check_problem("redis://h?replicas=1&fsync=no&replicas=1", "the same parameter twice");
}

BOOST_AUTO_TEST_CASE(fragments_and_question_marks_of_passwords_are_refused)
{
    for (auto url : {"redis://h#x", "redis://u:p#q@h", "redis://h?replicas=1#x"}) check_problem(url, "write %23");
    check_problem("redis://u:p?q@h", "write %3F");
}

BOOST_AUTO_TEST_CASE(credentials_without_a_password_are_refused)
{
    for (auto url : {"redis://app@h", "redis://app:@h", "redis://:@h", "redis://@h"}) check_problem(url, "has no password before its '@'");
}

BOOST_AUTO_TEST_CASE(broken_percent_encoding_is_refused)
{
    for (auto url : {"redis://u:p%@h", "redis://u:p%4@h", "redis://u:%zz@h", "redis://u:%4g@h", "redis://u%:p@h", "redis://u:%-1@h",
                     "redis://u:%+1@h", "redis://u:%0x@h"})
        check_problem(url, "two hexadecimal digits");
}

BOOST_AUTO_TEST_CASE(characters_that_move_the_borders_must_be_encoded)
{
    check_problem("redis://u:p@q@h", "write %40");
    check_problem("redis://u:p/q@h", "write %2F");
}

BOOST_AUTO_TEST_CASE(no_error_repeats_a_password)
{
    std::vector<std::string> const around_the_secret[] = {
        {"redis://app:", "@h:0"},
        {"redis://app:", "@h:x"},
        {"redis://app:", "@h/x"},
        {"redis://app:", "@"},
        {"redis://app:", "@[::1"},
        {"redis://app:", "@::1"},
        {"redis://app:", "@h?x"},
        {"redis://app:", "@h h"},
        {"redis://app:", "/x@h"},
        {"redis://app:", "@x@h"},
        {"redis://app:", "%@h"},
        {"redis://app:", ""},
        {"redis://", "@h"},
        {"redis://", ":@h"},
        {"redis://:", ""},
        {"rediss://app:", "@h:"},
        {"http://app:", "@h"},
        {"app:", "@h"},
        {"", "://h"},
        {"unix://app:", "@/"},
        {"redis://h:", ""},
        {"redis://h/", ""},
        {"redis://[", "]"},
        {"redis://h, ", ""},
        {"redis://app:", "\n@h"},
        {"redis://app:", "#@h"},
        {"redis://[::1]", ""},
        {"redis://h?", "=1"},
        {"redis://h?replicas=", ""},
        {"redis://h?fsync=", ""},
        {"redis://app:", "?fsync=yes"},
        {"redis://app:", "?@h"},
        {"redis://h?password_file=", ""},
        {"redis://h?password_env=", "%3D"},
        {"redis://h?password=", ""},
        {"unix://app:", "@h/run/socket"},
        {"unix://app:", "/run/socket"},
        {"unix://", ""},
        {"rediss://app:", "@h?verify=0"},
        {"rediss://h?verify=", ""},
        {"rediss://h?server_name=", "%20"},
        {"rediss://h?key_file=", ""},
        {"rediss://app:", "@h?ca_file="},
        {"redis://app:", "@h?password_env=X"},
        {"unix:///s?db=", ""},
    };
    std::string const secret = "hunter2";
    for (auto const& parts : around_the_secret) {
        std::string const url = parts[0] + secret + parts[1];
        std::string const text = problem_with_address(url);
        BOOST_TEST(!text.empty(), url << " was accepted");
        BOOST_TEST(!contains(text, secret), text);
        BOOST_TEST(!contains(text, "hunter"), text);
    }
}

BOOST_AUTO_TEST_CASE(an_address_prints_host_and_port_only)
{
    BOOST_TEST(parsed("redis://app:s3cret@h:7000/3").to_string() == "h:7000");
    BOOST_TEST(parsed("redis://:s3cret@[::1]").to_string() == "[::1]:6379");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
