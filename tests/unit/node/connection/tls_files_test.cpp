// What the connections of a node share for TLS, and for whom a certificate has to be.
#include "node/connection/tls.hpp"

#include <boost/test/unit_test.hpp>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace redlock::detail {
namespace {

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* what) const
    {
        Free(what);
    }
};

// A certificate that it has signed itself, and its key, in one file.
struct certificate_in_a_file {
    explicit certificate_in_a_file(char const* names)
    {
        key.reset(::EVP_EC_gen("P-256"));
        certificate.reset(::X509_new());
        X509* const c = certificate.get();
        ::X509_set_version(c, X509_VERSION_3);
        ::ASN1_INTEGER_set(::X509_get_serialNumber(c), 1);
        ::X509_gmtime_adj(::X509_getm_notBefore(c), -60);
        ::X509_gmtime_adj(::X509_getm_notAfter(c), 3'600);
        ::X509_set_pubkey(c, key.get());
        X509_NAME* const subject = ::X509_get_subject_name(c);
        ::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<unsigned char const*>("ours"), -1, -1, 0);
        ::X509_set_issuer_name(c, subject);
        X509_EXTENSION* const alternatives = ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, names);
        ::X509_add_ext(c, alternatives, -1);
        ::X509_EXTENSION_free(alternatives);
        BOOST_REQUIRE(::X509_sign(c, key.get(), ::EVP_sha256()) > 0);
        write();
    }

    ~certificate_in_a_file() { std::filesystem::remove(path); }

    void write() const
    {
        std::FILE* const to = std::fopen(path.c_str(), "w");
        BOOST_REQUIRE(to);
        ::PEM_write_X509(to, certificate.get());
        ::PEM_write_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        std::fclose(to);
    }

    std::unique_ptr<EVP_PKEY, freed_by<::EVP_PKEY_free>> key;
    std::unique_ptr<X509, freed_by<::X509_free>> certificate;
    std::string const path{(std::filesystem::temp_directory_path() /
                            ("redlock-tls-files-" + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count()) + ".pem"))
                               .string()};
};

using connection_end = std::unique_ptr<SSL, freed_by<::SSL_free>>;

// Whether a client that wants this host believes the server, over a connection in memory.
bool is_believed(tls_files& files, node_address const& wanted, certificate_in_a_file const& of_server)
{
    auto context = files.context_for(*wanted.tls);
    std::unique_ptr<SSL_CTX, freed_by<::SSL_CTX_free>> const serving{::SSL_CTX_new(::TLS_server_method())};
    ::SSL_CTX_use_certificate(serving.get(), of_server.certificate.get());
    ::SSL_CTX_use_PrivateKey(serving.get(), of_server.key.get());
    connection_end const client{::SSL_new(context.native_handle())}, server{::SSL_new(serving.get())};
    BIO *ours = nullptr, *theirs = nullptr;
    BOOST_REQUIRE(::BIO_new_bio_pair(&ours, 0, &theirs, 0) == 1);
    ::SSL_set_bio(client.get(), ours, ours);
    ::SSL_set_bio(server.get(), theirs, theirs);
    ::SSL_set_connect_state(client.get());
    ::SSL_set_accept_state(server.get());
    tls_session{wanted}.announce(client.get());
    for (int turn = 0; turn < 20 && ::SSL_is_init_finished(client.get()) == 0; ++turn) {
        ::SSL_do_handshake(client.get());
        ::SSL_do_handshake(server.get());
    }
    return ::SSL_is_init_finished(client.get()) == 1;
}

node_address to(std::string const& host, tls_options const& tls)
{
    node_address a;
    a.host = host;
    a.tls = tls;
    return a;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(files_of_tls)

BOOST_AUTO_TEST_CASE(all_connections_share_a_context_until_a_file_changes)
{
    certificate_in_a_file const file{"DNS:redis-1.example"};
    tls_options tls;
    tls.ca_file = tls.certificate_file = file.path;
    tls_files files;
    auto first = files.context_for(tls);
    auto second = files.context_for(tls);
    BOOST_TEST(first.native_handle() == second.native_handle());
    file.write();
    auto third = files.context_for(tls);
    BOOST_TEST(third.native_handle() != first.native_handle());
    std::filesystem::remove(file.path);
    BOOST_CHECK_THROW(files.context_for(tls), tls_error);
    file.write();
    BOOST_CHECK_NO_THROW(files.context_for(tls));
}

BOOST_AUTO_TEST_CASE(the_files_of_a_folder_are_not_kept)
{
    tls_options tls;
    tls.ca_path = std::filesystem::temp_directory_path().string();
    tls_files files;
    auto first = files.context_for(tls);
    BOOST_TEST(files.context_for(tls).native_handle() != first.native_handle());
}

BOOST_AUTO_TEST_CASE(each_connection_wants_the_name_of_its_own_server)
{
    certificate_in_a_file const file{"DNS:redis-1.example, IP:10.0.0.1"}, stranger{"DNS:redis-1.example"};
    tls_options tls;
    tls.ca_file = file.path;
    tls_files files;
    for (int again = 0; again < 2; ++again) {
        BOOST_TEST(is_believed(files, to("redis-1.example", tls), file));
        BOOST_TEST(is_believed(files, to("10.0.0.1", tls), file));
        BOOST_TEST(!is_believed(files, to("redis-2.example", tls), file));
        BOOST_TEST(!is_believed(files, to("10.0.0.2", tls), file));
        BOOST_TEST(!is_believed(files, to("ours", tls), file), "the CN is no name");
        BOOST_TEST(!is_believed(files, to("redis-1.example", tls), stranger));
    }
    tls.verify = false;
    tls_files unverified;
    BOOST_TEST(is_believed(unverified, to("redis-2.example", tls), stranger));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
