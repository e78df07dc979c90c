// The value of a lock's key while it is held: a random part, which no other value has, and a text about the holder (holder_info.hpp). All values that
// this client makes within a second share the text about the holder.
#ifndef REDLOCK_CORE_LOCK_VALUE_HPP
#define REDLOCK_CORE_LOCK_VALUE_HPP

#include "base/random_bytes.hpp"

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace redlock::detail {

// A text that many values share; each keeps a pointer.
struct shared_text : boost::intrusive_ref_counter<shared_text> {
    explicit shared_text(std::string of_all) : text{std::move(of_all)} {}

    std::string const text;
};
using shared_text_ptr = boost::intrusive_ptr<shared_text const>;

class lock_value {
public:
    lock_value(random_bytes const& own, shared_text_ptr holder) noexcept : own_{own}, holder_{std::move(holder)} {}

    // A value of one part, for servers in memory. Implicit, since there they are made of strings.
    lock_value(std::string whole) : holder_{new shared_text{std::move(whole)}} {}

    // On the nodes the value is the digits of these bytes, with the tail behind them. Null: the value is the tail alone.
    random_bytes const* bytes() const noexcept { return own_ == random_bytes{} ? nullptr : &own_; }
    std::string_view tail() const noexcept { return holder_ ? std::string_view{holder_->text} : std::string_view{}; }

    std::string text() const
    {
        std::string text(bytes() ? digits_of_random_bytes : 0, '0');
        if (bytes()) put_digits(text.data(), *bytes());
        return text.append(tail());
    }

private:
    random_bytes own_{};  // zeros: the value has one part, and that is holder_
    shared_text_ptr holder_;
};

}  // namespace redlock::detail

#endif
