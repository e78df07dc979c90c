// What a lock is about: one name, or several of which all are held or none.
#ifndef REDLOCK_DETAIL_RESOURCE_HPP
#define REDLOCK_DETAIL_RESOURCE_HPP

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

class resource {
public:
    // Whose key is its name.
    explicit resource(std::string name) : first_{std::move(name)}, hash_{hash_of(first_)} {}

    // `text`: the names, for people. Precondition: keys are sorted, without duplicates, not empty.
    resource(std::vector<std::string> const& keys, std::string text)
        : first_{keys.front()}, hash_{hash_of(first_)}, more_{std::make_unique<more>(more{{keys.begin() + 1, keys.end()}, std::move(text)})}
    {
        for (std::string const& key : more_->others) hash_ = hash_ * 31 + hash_of(key);
    }

    // The keys on the nodes.
    std::string const& first() const noexcept { return first_; }
    std::span<std::string const> others() const noexcept
    {
        return more_ ? std::span<std::string const>{more_->others} : std::span<std::string const>{};
    }

    // For people.
    std::string const& text() const noexcept { return more_ ? more_->text : first_; }

    // Of all names.
    std::size_t hash() const noexcept { return hash_; }

    friend bool operator==(resource const& a, resource const& b) noexcept
    {
        return &a == &b ||
               (a.hash_ == b.hash_ && a.first_ == b.first_ && !a.more_ == !b.more_ && (!a.more_ || a.more_->others == b.more_->others));
    }

private:
    struct more {
        std::vector<std::string> others;
        std::string text;
    };

    static std::size_t hash_of(std::string_view name) noexcept { return std::hash<std::string_view>{}(name); }

    std::string first_;
    std::size_t hash_;
    std::unique_ptr<more> more_;  // most have one name, which is the key
};

}  // namespace redlock::detail

#endif
