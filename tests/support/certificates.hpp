// Certificates for tests with TLS: an authority of one's own, and what it issues.
#ifndef REDLOCK_TESTS_SUPPORT_CERTIFICATES_HPP
#define REDLOCK_TESTS_SUPPORT_CERTIFICATES_HPP

#include "temporary_folder.hpp"

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace redlock::testing {

/// PEM files.
struct certified_key {
    std::string certificate;
    std::string key;
};

struct certificate_wish {
    std::string names{"DNS:localhost,IP:127.0.0.1"};     ///< As in OpenSSL's subjectAltName; empty: it has none.
    std::string subject{"somebody"};                     ///< Its CN.
    std::chrono::seconds begins{-3'600};                 ///< From now.
    std::chrono::seconds ends{3'600};                    ///< From now.
};

/// Its files are gone with it. Throws `std::runtime_error` where OpenSSL fails.
class certificate_authority {
public:
    certificate_authority();
    ~certificate_authority();

    /// Its own certificate, as clients trust it.
    std::string file() const;

    /// A folder as `openssl rehash` makes it, with that certificate.
    std::string folder() const;

    certified_key issue(certificate_wish const& wish = {});

private:
    struct keys;

    temporary_folder folder_;
    std::unique_ptr<keys> own_;
    int issued_{0};
};

/// Whether a server wants certificates of its clients.
enum class client_certificates { ignored, required };

/// What a server with TLS is started with. It shows `own`, and believes clients whose certificate is from `clients`.
std::vector<std::string> tls_arguments(certificate_authority const& clients, certified_key const& own,
                                       client_certificates wanted = client_certificates::ignored);

}  // namespace redlock::testing

#endif
