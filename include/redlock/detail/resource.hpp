// What a lock is about: one name, or several of which all are held or none.
#ifndef REDLOCK_DETAIL_RESOURCE_HPP
#define REDLOCK_DETAIL_RESOURCE_HPP

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

class resource {
public:
    explicit resource(std::string name) : first_{std::move(name)} {}

    // Precondition: sorted, without duplicates, not empty.
    explicit resource(std::vector<std::string> const& names) : first_{names.front()}, others_{names.begin() + 1, names.end()}
    {
        if (others_.empty()) return;
        text_ = first_;
        for (std::string const& name : others_) text_.append(", ").append(name);
    }

    std::string const& first() const noexcept { return first_; }
    std::span<std::string const> others() const noexcept { return others_; }

    // For people.
    std::string const& text() const noexcept { return others_.empty() ? first_ : text_; }

    friend bool operator==(resource const& a, resource const& b) noexcept { return a.first_ == b.first_ && a.others_ == b.others_; }

private:
    std::string first_;
    std::vector<std::string> others_;
    std::string text_;
};

}  // namespace redlock::detail

#endif
