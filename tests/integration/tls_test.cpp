// Connections with TLS: who is believed, who is not and in what words, and what the client shows of itself.
#include "node/connection/tls.hpp"
#include "support/certificates.hpp"
#include "support/one_client.hpp"

#include <boost/asio/ip/tcp.hpp>

#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace redlock::testing {
namespace {

redis_server_options with_tls(certificate_authority const& clients, certified_key const& own,
                              client_certificates wanted = client_certificates::ignored)
{
    return {.tls = tls_arguments(clients, own, wanted)};
}

way_to way_with(tls_options const& tls, std::string const& host = "127.0.0.1")
{
    return [=](redis_server const& server) { return node_address{.host = host, .port = server.tls_port(), .password = {}, .tls = tls}; };
}

struct authorities {
    certificate_authority ours, theirs;
    tls_options trust_ours{.ca_file = ours.file()};

    redis_server_options server(certificate_wish const& wish = {}) { return with_tls(ours, ours.issue(wish)); }
};

// Of all connections of this process to that port.
std::vector<bool> nodelay_of_connections_to(std::uint16_t port)
{
    std::vector<bool> found;
    for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/fd"}) {
        int const fd = std::stoi(entry.path().filename());
        sockaddr_in peer{};
        socklen_t size = sizeof peer;
        if (::getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0 || peer.sin_family != AF_INET || ntohs(peer.sin_port) != port)
            continue;
        int on = 0;
        size = sizeof on;
        BOOST_REQUIRE(::getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &size) == 0);
        found.push_back(on != 0);
    }
    return found;
}

void write(std::string const& file, std::string const& text) { std::ofstream{file, std::ios::trunc} << text; }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(tls, authorities)

BOOST_AUTO_TEST_CASE(locks_on_three_nodes)
{
    cluster_reached c{3, server(), way_with(trust_ours)};
    c.run([&]() -> asio::awaitable<void> {
        auto locking = c.lock_everywhere();
        co_await std::move(locking);
        auto const port = c.servers[0].tls_port();
        auto const list = c.servers[0].command({"CLIENT", "LIST"});
        BOOST_TEST(list.find("laddr=127.0.0.1:" + std::to_string(port)) != std::string::npos, list);
        BOOST_TEST(list.find("name=redlock") != std::string::npos, list);
        BOOST_TEST((nodelay_of_connections_to(port) == std::vector{true}));
        BOOST_TEST(c.first().node == "127.0.0.1:" + std::to_string(port));
    });
}

BOOST_AUTO_TEST_CASE(a_url_is_enough)
{
    cluster_reached{1, server(),
                    [this](redis_server const& s) {
                        return node_address::from_url("rediss://localhost:" + std::to_string(s.tls_port()) + "?ca_file=" + ours.file());
                    }}
        .expect_locks();
}

BOOST_AUTO_TEST_CASE(what_is_said_for_all_nodes)
{
    config settings = quick_config();
    settings.tls = trust_ours;
    cluster_reached{3, server(), way_with({}), settings}.expect_locks();
}

BOOST_AUTO_TEST_CASE(a_folder_of_authorities) { cluster_reached{1, server(), way_with({.ca_path = ours.folder()})}.expect_locks(); }

BOOST_AUTO_TEST_CASE(the_store_of_the_system)
{
    auto const options = server();
    ::setenv("SSL_CERT_FILE", ours.file().c_str(), 1);  // OpenSSL's own, instead of the file of the system
    cluster_reached{1, options, way_with({})}.expect_locks();
    ::setenv("SSL_CERT_FILE", theirs.file().c_str(), 1);
    cluster_reached{1, options, way_with({})}.expect_failure(errc::tls_failed, "is not in ca_file, ca_path or the system's store");
    ::unsetenv("SSL_CERT_FILE");
}

BOOST_AUTO_TEST_CASE(ipv6)
{
    auto options = server({.names = "IP:::1"});
    options.ipv6 = true;
    cluster_reached{1, options, way_with(trust_ours, "::1")}.expect_locks();
}

BOOST_AUTO_TEST_CASE(an_authority_that_is_not_trusted)
{
    std::string const hint = "; its issuer is not in ca_file, ca_path or the system's store";
    cluster_reached{1, server(), way_with({.ca_file = theirs.file()})}.expect_failure(
        errc::tls_failed, "certificate verify failed: self-signed certificate in certificate chain" + hint);
    // A server that does not send the certificate of its authority.
    cluster_reached{1, with_tls(theirs, ours.issue()), way_with({.ca_file = theirs.file()})}.expect_failure(
        errc::tls_failed, "certificate verify failed: unable to get local issuer certificate" + hint);
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_over)
{
    cluster_reached{1, server({.begins = -2h, .ends = -1h}), way_with(trust_ours)}.expect_failure(
        errc::tls_failed, "certificate verify failed: certificate has expired");
}

BOOST_AUTO_TEST_CASE(a_certificate_that_has_not_begun)
{
    cluster_reached{1, server({.begins = 1h, .ends = 2h}), way_with(trust_ours)}.expect_failure(
        errc::tls_failed, "certificate verify failed: certificate is not yet valid");
}

BOOST_AUTO_TEST_CASE(a_certificate_for_another_name)
{
    auto const options = server({.names = "DNS:redis-1.example"});
    cluster_reached{1, options, way_with(trust_ours, "localhost")}.expect_failure(
        errc::tls_failed, "certificate verify failed: hostname mismatch; it is not for localhost (");
    cluster_reached{1, options, way_with(trust_ours)}.expect_failure(
        errc::tls_failed, "certificate verify failed: IP address mismatch; it is not for 127.0.0.1 (");
}

// Its CN is for people to read.
BOOST_AUTO_TEST_CASE(a_certificate_without_names)
{
    auto const options = server({.names = "", .subject = "localhost"});
    cluster_reached{1, options, way_with(trust_ours, "localhost")}.expect_failure(
        errc::tls_failed,
        "certificate verify failed: hostname mismatch; it is not for localhost (the subjectAltName counts, and not the CN)");
    auto named = trust_ours;
    named.server_name = "localhost";
    cluster_reached{1, options, way_with(named)}.expect_failure(errc::tls_failed, "it is not for localhost");
}

BOOST_AUTO_TEST_CASE(the_name_to_expect_can_be_set)
{
    auto named = trust_ours;
    named.server_name = "redis-1.example";
    auto const options = server({.names = "DNS:redis-1.example"});
    cluster_reached{1, options, way_with(named)}.expect_locks();
    named.server_name = "redis-2.example";
    cluster_reached{1, options, way_with(named)}.expect_failure(errc::tls_failed, "it is not for redis-2.example");
}

BOOST_AUTO_TEST_CASE(without_verification_anybody_is_believed_and_the_node_is_named_so)
{
    cluster_reached c{1, server({.names = "DNS:other", .begins = -2h, .ends = -1h}), way_with({.ca_file = theirs.file(), .verify = false})};
    c.expect_locks();
    BOOST_TEST(c.first().node.ends_with(" (TLS, not verified)"));
    config settings = quick_config();
    settings.tls.verify = false;
    cluster_reached all{1, server({.names = "DNS:other"}), way_with({}), settings};
    all.expect_locks();
    BOOST_TEST(all.first().node.ends_with(" (TLS, not verified)"));
}

BOOST_AUTO_TEST_CASE(a_server_without_tls)
{
    config settings = quick_config();
    settings.connect_timeout = 300ms;
    auto const plain = [](redis_server const& s) { return node_address::from_url("rediss://127.0.0.1:" + std::to_string(s.port())); };
    cluster_reached c{1, {}, plain, settings};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        auto failing = eventually([&] { return c.first().last_error.failed(); });
        bool const failed = co_await std::move(failing);
        BOOST_TEST(failed);
        BOOST_TEST((c.first().last_error == errc::tls_failed || c.first().last_error == errc::node_timeout),
                   c.first().last_error.message());
        auto const words = c.first().last_error_text;
        BOOST_TEST(words.find("a server without TLS wants redis:// instead") != std::string::npos, words);
    });
}

BOOST_AUTO_TEST_CASE(a_url_without_tls_to_a_port_with_it)
{
    cluster_reached c{1, server(),
                      [](redis_server const& s) { return node_address::from_url("redis://127.0.0.1:" + std::to_string(s.tls_port())); }};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        auto failing = eventually([&] { return c.first().last_error.failed(); });
        bool const failed = co_await std::move(failing);
        BOOST_TEST(failed);
        auto const words = c.first().last_error_text;
        BOOST_TEST(words.find("a server with TLS wants rediss:// instead") != std::string::npos, words);
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_wants_certificates)
{
    auto const options = with_tls(ours, ours.issue(), client_certificates::required);
    auto const mine = ours.issue({.names = "DNS:a-client"});
    auto shown = trust_ours;
    shown.certificate_file = mine.certificate;
    shown.key_file = mine.key;
    cluster_reached{3, options, way_with(shown)}.expect_locks();
    cluster_reached{1, options, way_with(trust_ours)}.expect_failure(errc::tls_failed, "certificate required");

    auto const strange = theirs.issue();
    shown.certificate_file = strange.certificate;
    shown.key_file = strange.key;
    cluster_reached{1, options, way_with(shown)}.expect_failure(errc::tls_failed, "alert");
}

BOOST_AUTO_TEST_CASE(a_certificate_and_its_key_in_one_file)
{
    auto const mine = ours.issue();
    std::ofstream{mine.certificate, std::ios::app} << std::ifstream{mine.key}.rdbuf();
    auto shown = trust_ours;
    shown.certificate_file = mine.certificate;
    cluster_reached{1, with_tls(ours, ours.issue(), client_certificates::required), way_with(shown)}.expect_locks();
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_used_are_named)
{
    temporary_folder const folder;
    std::string const nothing = folder.path() / "nothing", garbage = folder.path() / "garbage";
    write(garbage, "no certificate");
    auto const mine = ours.issue(), other = ours.issue();
    auto const options = server();
    auto const expect = [&](tls_options const& with, std::string const& words) {
        cluster_reached{1, options, way_with(with)}.expect_failure(errc::tls_failed, words);
    };
    expect({.ca_file = nothing}, "the ca_file " + nothing + " cannot be read: No such file or directory");
    expect({.ca_file = folder.path()}, "is not a regular file");
    expect({.ca_file = garbage}, "the ca_file " + garbage + " cannot be used: no start line");
    expect({.ca_path = nothing}, "the ca_path " + nothing + " cannot be used: it is not a folder");
    expect({.certificate_file = nothing}, "the certificate_file " + nothing + " cannot be read");
    expect({.certificate_file = garbage}, "the certificate_file " + garbage + " cannot be used");
    expect({.certificate_file = mine.certificate, .key_file = nothing}, "the key_file " + nothing + " cannot be read");
    expect({.certificate_file = mine.certificate, .key_file = other.key},
           "the key_file " + other.key + " cannot be used: key values mismatch");
    expect({.certificate_file = mine.certificate}, "the certificate_file " + mine.certificate + " cannot be used");  // holds no key
}

// OpenSSL would ask for its password on the terminal.
BOOST_AUTO_TEST_CASE(an_encrypted_key_is_refused)
{
    auto const mine = ours.issue();
    BIO* const in = ::BIO_new_file(mine.key.c_str(), "r");
    EVP_PKEY* const key = ::PEM_read_bio_PrivateKey(in, nullptr, nullptr, nullptr);
    BIO* const out = ::BIO_new_file(mine.key.c_str(), "w");
    unsigned char const password[] = "hunter2";
    BOOST_REQUIRE(::PEM_write_bio_PrivateKey(out, key, ::EVP_aes_128_cbc(), password, 7, nullptr, nullptr) == 1);
    ::BIO_free_all(in);
    ::BIO_free_all(out);
    ::EVP_PKEY_free(key);
    auto shown = trust_ours;
    shown.certificate_file = mine.certificate;
    shown.key_file = mine.key;
    cluster_reached{1, server(), way_with(shown)}.expect_failure(errc::tls_failed, "it must hold a key that is not encrypted");
}

BOOST_AUTO_TEST_CASE(a_file_that_was_replaced_applies_at_the_next_connection)
{
    temporary_folder const folder;
    std::string const trusted = folder.path() / "ca.pem";
    std::filesystem::copy_file(theirs.file(), trusted);
    cluster_reached c{1, server(), way_with({.ca_file = trusted})};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        auto failing = c.fail(errc::tls_failed, "certificate verify failed");
        co_await std::move(failing);
        std::filesystem::copy_file(ours.file(), trusted, std::filesystem::copy_options::overwrite_existing);
        auto coming = eventually([&] { return c.usable() == 1; });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came, c.first().last_error_text);
        auto locking = c.lock_everywhere();
        co_await std::move(locking);
    });
}

// A server that comes back is found again, as without TLS.
BOOST_AUTO_TEST_CASE(a_connection_that_is_lost_is_made_again)
{
    cluster_reached c{1, server(), way_with(trust_ours)};
    c.run([&]() -> asio::awaitable<void> {
        c.servers[0].command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        auto coming = eventually([&] { return c.first().connects == 2 && c.usable() == 1; });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came);
        BOOST_TEST(c.first().last_error == errc::node_unreachable);
        BOOST_TEST(c.first().last_error_text == "the connection was closed");
        auto locking = c.lock_everywhere();
        co_await std::move(locking);
    });
}

BOOST_AUTO_TEST_CASE(nothing_older_than_tls_1_2_and_the_name_is_announced)
{
    auto const announced = [](std::string const& host, std::string const& server_name) -> std::string {
        node_address const address{.host = host, .password = {}, .tls = tls_options{.server_name = server_name}};
        detail::tls_files files;
        detail::tls_session const session{address};
        auto context = files.context_for(*address.tls);
        BOOST_TEST(::SSL_CTX_get_min_proto_version(context.native_handle()) == TLS1_2_VERSION);
        SSL* const connection = ::SSL_new(context.native_handle());
        session.announce(connection);
        char const* const name = ::SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
        std::string const result = name ? name : "";
        ::SSL_free(connection);
        return result;
    };
    BOOST_TEST(announced("redis-1.example", "") == "redis-1.example");
    BOOST_TEST(announced("redis-1.example.", "") == "redis-1.example");
    BOOST_TEST(announced("10.0.0.1", "redis-1.example") == "redis-1.example");
    BOOST_TEST(announced("10.0.0.1", "") == "");
    BOOST_TEST(announced("::1", "") == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
