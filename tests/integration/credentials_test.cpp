// Passwords in files and in the environment, and passwords that change.
#include "support/one_client.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace redlock::testing {
namespace {

std::string const variable = "REDLOCK_TESTS_PASSWORD";

struct a_password_file {
    temporary_folder folder;
    std::string file{folder.path() / "password"};

    void write(std::string const& text) const { std::ofstream{file, std::ios::trunc | std::ios::binary} << text; }

    way_to way(std::string const& user = "default") const
    {
        return [=, this](redis_server const& s) {
            return node_address{.host = "127.0.0.1", .port = s.port(), .username = user, .password = {}, .password_file = file};
        };
    }
};

node_address with_variable(redis_server const& s)
{
    return {.host = "127.0.0.1", .port = s.port(), .password = {}, .password_env = variable};
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(credentials, a_password_file)

BOOST_AUTO_TEST_CASE(a_password_in_a_file)
{
    for (std::string const text : {"open sesame", "open sesame\n", "open sesame\r\n"}) {
        write(text);
        cluster_reached{1, {.requirepass = "open sesame"}, way()}.expect_locks();
    }
}

BOOST_AUTO_TEST_CASE(only_one_newline_is_none_of_it)
{
    write("open sesame\n\n");
    cluster_reached{1, {.requirepass = "open sesame"}, way()}.expect_failure(errc::handshake_refused, "wrong user name or password");
}

BOOST_AUTO_TEST_CASE(a_user_and_a_file_in_a_url)
{
    write("s3cr3t\n");
    redis_server_options const options{.arguments = {"--user", "locker", "on", ">s3cr3t", "~*", "&*", "+@all"}};
    cluster_reached{3, options,
                    [this](redis_server const& s) {
                        return node_address::from_url("redis://locker@127.0.0.1:" + std::to_string(s.port()) + "?password_file=" + file);
                    }}
        .expect_locks();
}

BOOST_AUTO_TEST_CASE(a_password_in_the_environment)
{
    for (char const* text : {"open sesame", "open sesame\n", "open sesame\r\n"}) {
        ::setenv(variable.c_str(), text, 1);
        cluster_reached{1, {.requirepass = "open sesame"}, with_variable}.expect_locks();
    }
    for (char const* text : {"", "\n"}) {
        ::setenv(variable.c_str(), text, 1);
        cluster_reached{1, {}, with_variable}.expect_failure(errc::credentials_unavailable, "that password_env names is empty");
    }
    ::unsetenv(variable.c_str());
    cluster_reached{1, {}, with_variable}.expect_failure(errc::credentials_unavailable, "that password_env names is not set");
}

BOOST_AUTO_TEST_CASE(files_that_hold_no_password)
{
    cluster_reached{1, {}, way()}.expect_failure(errc::credentials_unavailable,
                                                 "the password_file " + file + " cannot be read: No such file or directory");
    write("\n");
    cluster_reached{1, {}, way()}.expect_failure(errc::credentials_unavailable, "the password_file " + file + " is empty");
    write(std::string(100'000, 'x'));
    cluster_reached{1, {}, way()}.expect_failure(errc::credentials_unavailable, "is larger than 64 KiB");
    std::filesystem::remove(file);
    std::filesystem::create_directory(file);
    cluster_reached{1, {}, way()}.expect_failure(errc::credentials_unavailable, "is not a regular file");
}

// Where a vote waits for replicas there are two connections, and both of them fail.
BOOST_AUTO_TEST_CASE(a_node_of_two_connections_without_a_password)
{
    cluster_reached c{1, {.requirepass = "right"}, [this](redis_server const& s) {
                          auto address = way()(s);
                          address.fsync = true;
                          return address;
                      }};
    c.expect_failure(errc::credentials_unavailable, "cannot be read");
}

BOOST_AUTO_TEST_CASE(a_file_that_comes_later)
{
    cluster_reached c{1, {.requirepass = "right"}, way()};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        auto failing = c.fail(errc::credentials_unavailable, "cannot be read");
        co_await std::move(failing);
        write("right\n");
        auto coming = eventually([&] { return c.usable() == 1; });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came);
    });
}

// The operator gives the user a second password, changes the file, and takes the first one away. Nobody notices.
BOOST_AUTO_TEST_CASE(rotation_without_a_gap)
{
    write("first\n");
    redis_server_options const options{.arguments = {"--user", "locker", "on", ">first", "~*", "&*", "+@all"}};
    cluster_reached c{3, options, way("locker")};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "held", long_ttl};
        auto acquire = resource.acquire();
        lease held = co_await std::move(acquire);
        c.on_all({"ACL", "SETUSER", "locker", ">second"});
        write("second\n");
        c.on_all({"ACL", "SETUSER", "locker", "<first"});
        c.on_all({"CLIENT", "KILL", "USER", "locker"});
        auto coming = eventually([&] {
            auto const all = c.nodes.status().nodes;
            return c.usable() == 3 && std::all_of(all.begin(), all.end(), [](auto const& n) { return n.connects == 2; });
        });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came, c.first().last_error_text);
        BOOST_TEST(c.first().last_error == errc::node_unreachable);  // and never handshake_refused
        auto extend = held.extend();
        co_await std::move(extend);
        auto release = held.release();
        co_await std::move(release);
    });
}

BOOST_AUTO_TEST_CASE(a_password_that_was_changed_too_early_is_found_as_soon_as_the_file_has_it)
{
    write("first");
    redis_server_options const options{.arguments = {"--user", "locker", "on", ">first", "~*", "&*", "+@all"}};
    cluster_reached c{1, options, way("locker")};
    c.run([&]() -> asio::awaitable<void> {
        c.on_all({"ACL", "SETUSER", "locker", "resetpass", ">second"});
        c.on_all({"CLIENT", "KILL", "USER", "locker"});
        auto failing = c.fail(errc::handshake_refused, "wrong user name or password");
        co_await std::move(failing);
        BOOST_TEST(c.first().last_error_text.find("first") == std::string::npos);
        BOOST_TEST(c.first().connects == 1u);  // although anybody may come in as the user "default"
        write("second");
        auto coming = eventually([&] { return c.usable() == 1; });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came);
    });
}

BOOST_AUTO_TEST_CASE(clients_are_known_by_their_name_and_user)
{
    write("s3cr3t");
    config settings = quick_config();
    settings.client_name = "billing-7";
    cluster_reached c{1, {.arguments = {"--user", "locker", "on", ">s3cr3t", "~*", "&*", "+@all"}}, way("locker"), settings};
    c.run([&]() -> asio::awaitable<void> {
        auto const list = c.servers[0].command({"CLIENT", "LIST"});
        auto const at = list.find(" name=billing-7 ");
        BOOST_TEST(at != std::string::npos, list);
        BOOST_TEST(list.find(" user=locker ", at) != std::string::npos, list);
        co_return;
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
