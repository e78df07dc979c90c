// The value of a lock's key while it is held: what nobody else has, and what it says of its holder (holder_info.hpp), which all values have in
// common that this client makes within a second.
#ifndef REDLOCK_LEASE_LOCK_VALUE_HPP
#define REDLOCK_LEASE_LOCK_VALUE_HPP

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::detail {

// A text that many share, for as little as a pointer.
struct shared_text : boost::intrusive_ref_counter<shared_text> {
    explicit shared_text(std::string text) : is{std::move(text)} {}

    std::string const is;
};
using shared_text_ptr = boost::intrusive_ptr<shared_text const>;

class lock_value {
public:
    using unique_part = std::array<char, 32>;

    lock_value(unique_part const& own, shared_text_ptr mark) noexcept : own_{own}, mark_{std::move(mark)} {}

    // As tests give them.
    lock_value(std::string whole) : mark_{new shared_text{std::move(whole)}} {}

    // What stands on the nodes is this,
    std::string_view head() const noexcept { return is_whole() ? std::string_view{mark_->is} : std::string_view{own_.data(), own_.size()}; }
    // and behind it that.
    std::string_view tail() const noexcept { return is_whole() ? std::string_view{} : std::string_view{mark_->is}; }

    std::string text() const { return std::string{head()}.append(tail()); }

private:
    bool is_whole() const noexcept { return own_[0] == '\0'; }

    unique_part own_{};  // zeros: there is no such part
    shared_text_ptr mark_;
};

}  // namespace redlock::detail

#endif
