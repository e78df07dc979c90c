// Members that few objects of a kind need.
#ifndef REDLOCK_BASE_RARELY_HPP
#define REDLOCK_BASE_RARELY_HPP

#include <redlock/detail/recycling.hpp>

#include <memory>

namespace redlock::detail {

// A T that is made when it is first changed: until then it is like any other new T. Copies share it, until one of them is changed. Not for
// several threads.
template <class T>
class rarely {
public:
    T const& get() const noexcept
    {
        static T const fresh{};
        return value_ ? *value_ : fresh;
    }

    T& change()
    {
        if (!value_ || value_.use_count() > 1) value_ = make_recycled<T>(get());
        return *value_;
    }

private:
    std::shared_ptr<T> value_;
};

}  // namespace redlock::detail

#endif
