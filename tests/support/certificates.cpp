#include "certificates.hpp"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <array>
#include <cstdio>
#include <stdexcept>

namespace redlock::testing {

namespace {

template <auto free>
struct deleter {
    template <class T>
    void operator()(T* what) const
    {
        free(what);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, deleter<EVP_PKEY_free>>;
using certificate_ptr = std::unique_ptr<X509, deleter<X509_free>>;

void require(bool good, char const* what)
{
    if (!good) throw std::runtime_error{std::string{"OpenSSL fails: "} + what};
}

void write_pem(std::filesystem::path const& file, auto write)
{
    std::unique_ptr<BIO, deleter<BIO_free_all>> const out{::BIO_new_file(file.c_str(), "w")};
    require(out && write(out.get()) == 1, "writing a file");
}

void add_extension(X509* to, X509* issuer, int what, std::string const& value)
{
    X509V3_CTX context{};
    ::X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
    std::unique_ptr<X509_EXTENSION, deleter<X509_EXTENSION_free>> const extension{
        ::X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str())};
    require(extension && ::X509_add_ext(to, extension.get(), -1) == 1, "an extension");
}

// Not signed yet; it is its own issuer.
certificate_ptr make_certificate(std::string const& name, int serial, EVP_PKEY* key, certificate_wish const& wish)
{
    certificate_ptr made{::X509_new()};
    require(::X509_set_version(made.get(), 2) == 1, "the version");
    ::ASN1_INTEGER_set(::X509_get_serialNumber(made.get()), serial);
    ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), static_cast<long>(wish.begins.count()));
    ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), static_cast<long>(wish.ends.count()));
    ::X509_set_pubkey(made.get(), key);
    X509_NAME* const subject = ::X509_get_subject_name(made.get());
    auto const* const bytes = reinterpret_cast<unsigned char const*>(name.c_str());
    require(::X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, bytes, -1, -1, 0) == 1, "the subject");
    ::X509_set_issuer_name(made.get(), subject);
    return made;
}

key_ptr make_key()
{
    key_ptr key{::EVP_EC_gen("P-256")};
    require(key != nullptr, "a key");
    return key;
}

}  // namespace

// With a name of its own, by which those that it signs say who signed them.
struct certificate_authority::keys {
    explicit keys(std::string const& name) : certificate{make_certificate(name, 1, key.get(), {})} {}
    key_ptr key{make_key()};
    certificate_ptr certificate;
};

certificate_authority::certificate_authority() : folder_{"redlock-ca-"}, own_{std::make_unique<keys>(folder_.path().filename())}
{
    X509* const mine = own_->certificate.get();
    add_extension(mine, mine, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(mine, mine, NID_key_usage, "critical,keyCertSign");
    require(::X509_sign(mine, own_->key.get(), ::EVP_sha256()) != 0, "signing");
    write_pem(file(), [&](BIO* out) { return ::PEM_write_bio_X509(out, mine); });

    std::array<char, 16> name{};
    std::snprintf(name.data(), name.size(), "%08lx.0", ::X509_subject_name_hash(mine));
    std::filesystem::create_directory(folder());
    std::filesystem::create_symlink(file(), std::filesystem::path{folder()} / name.data());
}

certificate_authority::~certificate_authority() = default;

std::string certificate_authority::file() const { return folder_.path() / "ca.pem"; }
std::string certificate_authority::folder() const { return folder_.path() / "trusted"; }

certified_key certificate_authority::issue(certificate_wish const& wish)
{
    int const serial = ++issued_ + 1;
    auto const key = make_key();
    auto const made = make_certificate(wish.subject, serial, key.get(), wish);
    ::X509_set_issuer_name(made.get(), ::X509_get_subject_name(own_->certificate.get()));
    if (!wish.names.empty()) add_extension(made.get(), own_->certificate.get(), NID_subject_alt_name, wish.names);
    require(::X509_sign(made.get(), own_->key.get(), ::EVP_sha256()) != 0, "signing");

    auto const stem = folder_.path() / std::to_string(serial);
    certified_key result{stem.string() + ".pem", stem.string() + ".key"};
    write_pem(result.certificate, [&](BIO* out) { return ::PEM_write_bio_X509(out, made.get()); });
    write_pem(result.key, [&](BIO* out) { return ::PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    return result;
}

std::vector<std::string> tls_arguments(certificate_authority const& clients, certified_key const& own, client_certificates wanted)
{
    return {"--tls-cert-file",    own.certificate, "--tls-key-file",     own.key,
            "--tls-ca-cert-file", clients.file(),  "--tls-auth-clients", wanted == client_certificates::required ? "yes" : "no"};
}

}  // namespace redlock::testing
