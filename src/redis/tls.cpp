#include "redis/tls.hpp"

#include "redis/node_address.hpp"
#include "redis/small_file.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <boost/system/error_code.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <filesystem>
#include <system_error>
#include <utility>

namespace redlock::detail {

namespace {

namespace ssl = asio::ssl;
using boost::system::error_code;

constexpr std::size_t max_pem_size = std::size_t{16} << 20;  // a system's store has a quarter of one MiB

std::string read_pem(char const* member, std::string const& path)
{
    try {
        return read_small_file(path, max_pem_size);
    } catch (file_error const& error) {
        throw tls_error{std::string{"the "} + member + ' ' + error.what()};
    }
}

// As it is in certificates: without the dot that ends a name in the DNS.
std::string name_of(node_address const& address)
{
    std::string name = address.tls->server_name.empty() ? address.host : address.tls->server_name;
    if (name.ends_with('.')) name.pop_back();
    return name;
}

[[noreturn]] void refuse(char const* member, std::string const& path, std::string const& why)
{
    throw tls_error{std::string{"the "} + member + ' ' + path + " cannot be used: " + why};
}

void require(error_code ec, char const* member, std::string const& path, char const* hint = "")
{
    if (ec) refuse(member, path, ec.message() + hint);
}

std::string hint_for(int problem, std::string const& name)
{
    switch (problem) {
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN: return "; its issuer is not in ca_file, ca_path or the system's store";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
        return "; it is not for " + name + " (the subjectAltName counts, and not the CN): set server_name to a name that it is for";
    default: return "";
    }
}

}  // namespace

tls_session::tls_session(node_address const& address) : name_{name_of(address)}
{
    ::SSL_CTX_set_min_proto_version(context_.native_handle(), TLS1_2_VERSION);
    // By itself OpenSSL would ask for the password of a key on the terminal.
    context_.set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string{}; });
    show(*address.tls);
    context_.set_verify_mode(ssl::verify_none);
    if (address.tls->verify) {
        trust(*address.tls);
        verify();
    }
}

void tls_session::trust(tls_options const& tls)
{
    error_code ec;
    if (!tls.ca_file.empty()) {
        std::string const pem = read_pem("ca_file", tls.ca_file);
        context_.add_certificate_authority(asio::buffer(pem), ec);
        require(ec, "ca_file", tls.ca_file);
    }
    if (!tls.ca_path.empty()) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(tls.ca_path, ignored)) refuse("ca_path", tls.ca_path, "it is not a folder");
        context_.add_verify_path(tls.ca_path, ec);
        require(ec, "ca_path", tls.ca_path);
    }
    if (tls.ca_file.empty() && tls.ca_path.empty()) {
        context_.set_default_verify_paths(ec);
        if (ec) throw tls_error{"the system's store of certificates cannot be used: " + ec.message()};
    }
}

void tls_session::show(tls_options const& tls)
{
    if (tls.certificate_file.empty()) return;
    auto const [member, path] = tls.key_file.empty() ? std::pair{"certificate_file", tls.certificate_file}
                                                     : std::pair{"key_file", tls.key_file};
    std::string const certificate = read_pem("certificate_file", tls.certificate_file);
    std::string const key = read_pem(member, path);
    error_code ec;
    context_.use_certificate_chain(asio::buffer(certificate), ec);
    require(ec, "certificate_file", tls.certificate_file);
    context_.use_private_key(asio::buffer(key), ssl::context::pem, ec);
    require(ec, member, path, "; it must hold a key that is not encrypted, and belongs to the certificate");
}

// OpenSSL compares the names itself, as part of the verification, so that a wrong one is an error like the others.
void tls_session::verify()
{
    X509_VERIFY_PARAM* const wanted = ::SSL_CTX_get0_param(context_.native_handle());
    // A subject is no name of a host (RFC 9525), but by itself OpenSSL takes its CN where a certificate has no names.
    ::X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    std::string const without_zone = name_.substr(0, name_.find('%'));
    int const set = is_ip_address(name_) ? ::X509_VERIFY_PARAM_set1_ip_asc(wanted, without_zone.c_str())
                                         : ::X509_VERIFY_PARAM_set1_host(wanted, name_.data(), name_.size());
    if (set != 1) throw tls_error{"OpenSSL takes no such server_name"};
    context_.set_verify_mode(ssl::verify_peer);
    context_.set_verify_callback([this](bool good, ssl::verify_context& context) {
        if (good || !objection_.empty()) return good;
        int const problem = ::X509_STORE_CTX_get_error(context.native_handle());
        objection_ = std::string{"certificate verify failed: "} + ::X509_verify_cert_error_string(problem) + hint_for(problem, name_);
        return false;
    });
}

void tls_session::announce(SSL* connection) const
{
    if (!is_ip_address(name_)) ::SSL_set_tlsext_host_name(connection, name_.c_str());
}

}  // namespace redlock::detail
