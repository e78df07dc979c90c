// Makes the keys of locks from their names, as config::key_format says: `raw` (the key is the name), or a text with {0} for the name, as in
// `lock:{0}`.
#ifndef REDLOCK_PROTOCOL_KEY_FORMAT_HPP
#define REDLOCK_PROTOCOL_KEY_FORMAT_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

// Why a text cannot be a format, as the end of a sentence; empty: the text is a format.
std::string key_format_problem(std::string_view text);

class key_format {
public:
    // Precondition: `key_format_problem(text)` is empty. `prefix`: what all keys begin with, as those of a Redis Cluster's shard do.
    explicit key_format(std::string_view text = "raw", std::string prefix = "");

    // Whether keys are the names themselves.
    bool raw() const noexcept { return before_.empty() && after_.empty(); }

    // What keys have around the name.
    std::string const& before() const noexcept { return before_; }
    std::string const& after() const noexcept { return after_; }

    std::string key_of(std::string name) const;

    // Precondition: `key` was made with this format.
    std::string name_of(std::string const& key) const;

private:
    std::string before_;
    std::string after_;
};

}  // namespace redlock::detail

#endif
