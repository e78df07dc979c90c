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
    explicit resource(std::string name) : first_{std::move(name)}, hash_{hash_of(first_)} {}

    // Precondition: sorted, without duplicates, not empty.
    explicit resource(std::vector<std::string> const& names) : first_{names.front()}, hash_{hash_of(first_)}
    {
        if (names.size() == 1) return;
        more_ = std::make_unique<several>(several{{names.begin() + 1, names.end()}, first_});
        for (std::string const& name : more_->others) {
            more_->text.append(", ").append(name);
            hash_ = hash_ * 31 + hash_of(name);
        }
    }

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
        return a.first_ == b.first_ && !a.more_ == !b.more_ && (!a.more_ || a.more_->others == b.more_->others);
    }

private:
    struct several {
        std::vector<std::string> others;
        std::string text;
    };

    static std::size_t hash_of(std::string_view name) noexcept { return std::hash<std::string_view>{}(name); }

    std::string first_;
    std::size_t hash_;
    std::unique_ptr<several> more_;  // most have one name
};

}  // namespace redlock::detail

#endif
