#include "node/connection/tls.hpp"

#include "node/connection/node_address.hpp"
#include "node/connection/small_file.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/system/error_code.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdlib>
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

// By itself OpenSSL would ask for the password of a key on the terminal.
int no_password(char*, int, int, void*) { return 0; }

void trust(ssl::context& context, tls_options const& tls)
{
    error_code ec;
    if (!tls.ca_file.empty()) {
        std::string const pem = read_pem("ca_file", tls.ca_file);
        context.add_certificate_authority(asio::buffer(pem), ec);
        require(ec, "ca_file", tls.ca_file);
    }
    if (!tls.ca_path.empty()) {
        std::error_code ignored;
        if (!std::filesystem::is_directory(tls.ca_path, ignored)) refuse("ca_path", tls.ca_path, "it is not a folder");
        context.add_verify_path(tls.ca_path, ec);
        require(ec, "ca_path", tls.ca_path);
    }
    if (tls.ca_file.empty() && tls.ca_path.empty()) {
        context.set_default_verify_paths(ec);
        if (ec) throw tls_error{"the system's store of certificates cannot be used: " + ec.message()};
    }
}

void show(ssl::context& context, tls_options const& tls)
{
    if (tls.certificate_file.empty()) return;
    auto const [member, path] = tls.key_file.empty() ? std::pair{"certificate_file", tls.certificate_file}
                                                     : std::pair{"key_file", tls.key_file};
    std::string const certificate = read_pem("certificate_file", tls.certificate_file);
    std::string const key = read_pem(member, path);
    error_code ec;
    context.use_certificate_chain(asio::buffer(certificate), ec);
    require(ec, "certificate_file", tls.certificate_file);
    context.use_private_key(asio::buffer(key), ssl::context::pem, ec);
    require(ec, member, path, "; it must hold a key that is not encrypted, and belongs to the certificate");
}

// It must have no callbacks of Asio, which the first owner of a shared context would destroy.
ssl::context read_files(tls_options const& tls)
{
    ssl::context context{ssl::context::tls_client};
    ::SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
    ::SSL_CTX_set_default_passwd_cb(context.native_handle(), no_password);
    show(context, tls);
    context.set_verify_mode(tls.verify ? ssl::verify_peer : ssl::verify_none);
    if (tls.verify) trust(context, tls);
    return context;
}

ssl::context shared(ssl::context& owned)
{
    ::SSL_CTX_up_ref(owned.native_handle());
    return ssl::context{owned.native_handle()};
}

// Another text once the file is another one, or was written.
std::string version_of(char const* path)
{
    struct ::stat s{};
    if (::stat(path, &s) != 0) return "-;";
    std::string text;
    auto const add = [&text](auto number) { text += std::to_string(number) + ' '; };
    add(s.st_dev);
    add(s.st_ino);
    add(s.st_size);
    for (auto const& time : {s.st_mtim, s.st_ctim}) {
        add(time.tv_sec);
        add(time.tv_nsec);
    }
    return text + ';';
}

std::string version_of_store(char const* variable, char const* otherwise)
{
    char const* const set = std::getenv(variable);
    return version_of(set ? set : otherwise);
}

std::string version_of(tls_options const& tls)
{
    std::string text;
    for (std::string const* const path : {&tls.certificate_file, &tls.key_file, &tls.ca_file})
        if (!path->empty()) text += version_of(path->c_str());
    bool const of_system = tls.verify && tls.ca_file.empty() && tls.ca_path.empty();
    if (!of_system) return text;
    return text + version_of_store(::X509_get_default_cert_file_env(), ::X509_get_default_cert_file()) +
           version_of_store(::X509_get_default_cert_dir_env(), ::X509_get_default_cert_dir());
}

}  // namespace

// A folder is read by OpenSSL file by file, when one is needed: there is nothing to save, and no file to look at.
ssl::context tls_files::context_for(tls_options const& tls)
{
    auto version = version_of(tls);  // before they are read, so that what is written meanwhile is read the next time
    if (!context_ || version != version_ || !tls.ca_path.empty()) {
        context_.reset();
        context_ = read_files(tls);
        version_ = std::move(version);
    }
    return shared(*context_);
}

ssl::context tls_files::unused_context()
{
    if (!context_) context_.emplace(ssl::context::tls_client);
    return shared(*context_);
}

tls_session::tls_session(node_address const& address) : name_{name_of(address)}, verifies_{address.tls->verify} {}

// OpenSSL compares the names itself, as part of the verification, so that a wrong one is an error like the others.
void tls_session::announce(SSL* connection) const
{
    if (!is_ip_address(name_)) ::SSL_set_tlsext_host_name(connection, name_.c_str());
    if (!verifies_) return;
    X509_VERIFY_PARAM* const wanted = ::SSL_get0_param(connection);
    // A subject is no name of a host (RFC 9525), but by itself OpenSSL takes its CN where a certificate has no names.
    ::X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
    std::string const without_zone = name_.substr(0, name_.find('%'));
    int const set = is_ip_address(name_) ? ::X509_VERIFY_PARAM_set1_ip_asc(wanted, without_zone.c_str())
                                         : ::X509_VERIFY_PARAM_set1_host(wanted, name_.data(), name_.size());
    if (set != 1) throw tls_error{"OpenSSL takes no such server_name"};
}

bool tls_session::judge(bool good, ssl::verify_context& of)
{
    if (good || !objection_.empty()) return good;
    int const problem = ::X509_STORE_CTX_get_error(of.native_handle());
    objection_ = std::string{"certificate verify failed: "} + ::X509_verify_cert_error_string(problem) + hint_for(problem, name_);
    return false;
}

}  // namespace redlock::detail
