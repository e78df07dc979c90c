// config::key_format, from which the keys of locks are made: `raw` (the key is the name) or a text with {0} for the name, as in `lock:{0}`.
#ifndef REDLOCK_REDIS_KEY_FORMAT_HPP
#define REDLOCK_REDIS_KEY_FORMAT_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

// Why a text cannot be a format; empty if it can.
std::string key_format_problem(std::string_view text);

class key_format {
public:
    // Precondition: `key_format_problem(text)` is empty.
    explicit key_format(std::string_view text = "raw");

    // Whether keys are the names themselves.
    bool raw() const noexcept { return before_.empty() && after_.empty(); }

    std::string key_of(std::string name) const;

    // Precondition: the key is one of this format.
    std::string name_of(std::string const& key) const;

private:
    std::string before_;
    std::string after_;
};

}  // namespace redlock::detail

#endif
