// The value of a lock's key while it is held: what nobody else has, and what it says of its holder (holder_info.hpp), which all values have in
// common that this client makes within a second.
#ifndef REDLOCK_CORE_LOCK_VALUE_HPP
#define REDLOCK_CORE_LOCK_VALUE_HPP

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::detail {

class lock_value {
public:
    using unique_part = std::array<char, 32>;

    lock_value(unique_part const& own, std::shared_ptr<std::string const> mark) noexcept : own_{own}, mark_{std::move(mark)} {}

    // As tests give them.
    lock_value(std::string whole) : mark_{std::make_shared<std::string const>(std::move(whole))} {}

    // What stands on the nodes is this,
    std::string_view head() const noexcept { return is_whole() ? std::string_view{*mark_} : std::string_view{own_.data(), own_.size()}; }
    // and behind it that.
    std::string_view tail() const noexcept { return is_whole() ? std::string_view{} : std::string_view{*mark_}; }

    std::string text() const { return std::string{head()}.append(tail()); }

private:
    bool is_whole() const noexcept { return own_[0] == '\0'; }

    unique_part own_{};  // zeros: there is no such part
    std::shared_ptr<std::string const> mark_;
};

}  // namespace redlock::detail

#endif
