// Members that few objects of a kind need.
#ifndef REDLOCK_BASE_RARELY_HPP
#define REDLOCK_BASE_RARELY_HPP

#include <redlock/detail/recycling.hpp>

#include <memory>

namespace redlock::detail {

// A T that is made when it is first changed: until then it is like any other new T. Copies share it, until one of them is changed, so all of them
// belong to one thread or strand.
template <class T>
class rarely {
public:
    T const& get() const noexcept
    {
        if (value_) return *value_;
        static T const& fresh =
            *new T{};  // NOLINT(bugprone-unhandled-exception-at-new): never destroyed: a client may be in use after main() has returned
        return fresh;
    }

    T& change()
    {
        if (!value_) value_ = make_recycled<T>();
        else if (value_.use_count() > 1) value_ = make_recycled<T>(*value_);
        return *value_;
    }

private:
    std::shared_ptr<T> value_;
};

}  // namespace redlock::detail

#endif
