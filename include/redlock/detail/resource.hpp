// What a lock is about: one name, or several of which all are held or none; and whether it is acquired to read.
#ifndef REDLOCK_DETAIL_RESOURCE_HPP
#define REDLOCK_DETAIL_RESOURCE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
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
    enum class side : std::uint8_t {
        exclusive,
        writer,  // of a read-write lock: the same lock as an exclusive one of the name, but whoever waits for it leaves a wish
        reader,  // of a read-write lock: many at the same time
    };

    // Whose key is its name.
    explicit resource(std::string name) : first_{std::move(name)}, hash_{hash_of(first_)} {}

    // `text`: the names, for people. Precondition: keys are sorted, without duplicates, not empty.
    resource(std::vector<std::string> const& keys, std::string text)
        : first_{keys.front()}, hash_{hash_of(first_)}, more_{std::make_unique<more>(more{{keys.begin() + 1, keys.end()}, std::move(text)})}
    {
        for (std::string const& key : more_->others) hash_ = hash_ * 31 + hash_of(key);
    }

    // One side of a read-write lock. `want`: the key of the wish.
    resource(std::string const& key, std::string text, side of, std::string want)
        : first_{key}, hash_{hash_of(key)}, more_{std::make_unique<more>(more{{}, std::move(text), {std::move(want)}})}, side_{of}
    {
        if (is_for_readers()) hash_ = hash_ * 31 + 1;
    }

    bool is_for_readers() const noexcept { return side_ == side::reader; }
    bool leaves_a_wish() const noexcept { return side_ == side::writer; }

    // The key of the wish. Precondition: it is a side of a read-write lock.
    std::string const& want() const noexcept { return more_->want.front(); }

    // The keys on the nodes.
    std::string const& first() const noexcept { return first_; }
    std::span<std::string const> others() const noexcept
    {
        return more_ ? std::span<std::string const>{more_->others} : std::span<std::string const>{};
    }

    // The keys besides the first that whoever waits has to watch.
    std::span<std::string const> watched() const noexcept
    {
        return is_for_readers() ? std::span<std::string const>{more_->want} : others();
    }

    // For people.
    std::string const& text() const noexcept { return more_ ? more_->text : first_; }

    // Of all names.
    std::size_t hash() const noexcept { return hash_; }

    // Readers of a name are another lock than its writers: they wait in queues of their own.
    friend bool operator==(resource const& a, resource const& b) noexcept
    {
        return &a == &b || (a.hash_ == b.hash_ && a.first_ == b.first_ && a.is_for_readers() == b.is_for_readers() &&
                            std::ranges::equal(a.others(), b.others()));
    }

private:
    struct more {
        std::vector<std::string> others;
        std::string text;
        std::vector<std::string> want{};  // one, or none
    };

    static std::size_t hash_of(std::string_view name) noexcept { return std::hash<std::string_view>{}(name); }

    std::string first_;
    std::size_t hash_;
    std::unique_ptr<more> more_;  // most have one name, which is the key
    side side_{side::exclusive};
};

}  // namespace redlock::detail

#endif
