// What a lock is about: one name, or several of which all are held or none.
#ifndef REDLOCK_DETAIL_RESOURCE_HPP
#define REDLOCK_DETAIL_RESOURCE_HPP

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

class resource {
public:
    // Whose key is its name.
    explicit resource(std::string name) : first_{std::move(name)} {}

    // `text`: the names, for people. Precondition: keys are sorted, without duplicates, not empty.
    resource(std::vector<std::string> const& keys, std::string text)
        : first_{keys.front()}, more_{std::make_unique<more>(more{{keys.begin() + 1, keys.end()}, std::move(text)})}
    {
    }

    // The keys on the nodes.
    std::string const& first() const noexcept { return first_; }
    std::span<std::string const> others() const noexcept
    {
        return more_ ? std::span<std::string const>{more_->others} : std::span<std::string const>{};
    }

    // For people.
    std::string const& text() const noexcept { return more_ ? more_->text : first_; }

    friend bool operator==(resource const& a, resource const& b) noexcept
    {
        return a.first_ == b.first_ && !a.more_ == !b.more_ && (!a.more_ || a.more_->others == b.more_->others);
    }

private:
    struct more {
        std::vector<std::string> others;
        std::string text;
    };

    std::string first_;
    std::unique_ptr<more> more_;  // most have one name, which is the key
};

}  // namespace redlock::detail

#endif
