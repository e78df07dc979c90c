// What a lock is about: one name, or several of which all are held or none; whether it is acquired to read; permits of a semaphore, and the slots of
// those that are held.
#ifndef REDLOCK_DETAIL_RESOURCE_HPP
#define REDLOCK_DETAIL_RESOURCE_HPP

#include <redlock/detail/permit_pool.hpp>
#include <redlock/lock_mode.hpp>

#include <boost/container/string.hpp>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>

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

class lock_descriptor;
class resolved_options;
class resource;

// Every lease has these: the count of their users lies within the object. What is shared is always a lock_descriptor.
using resource_ptr = boost::intrusive_ptr<resource const>;
using lock_descriptor_ptr = boost::intrusive_ptr<lock_descriptor const>;

class resource : public boost::intrusive_ref_counter<lock_descriptor> {
public:
    enum class side : std::uint8_t {
        exclusive,
        writer,  // of a read-write lock: the same lock as an exclusive one of the name, but a waiting writer leaves a wish
        reader,  // of a read-write lock: many at the same time
        permits,  // of a semaphore: some of its slots, whichever are free
    };

    // Whose key is its name.
    explicit resource(std::string_view name) : hash_{hash_of(name)}, first_{name} {}

    // `text`: the names, for people. Precondition: keys are sorted, without duplicates, not empty.
    resource(std::vector<std::string> const& keys, std::string text)
        : hash_{hash_of(keys.front())},
          first_{std::string_view{keys.front()}},
          more_{std::make_unique<more>(more{{keys.begin() + 1, keys.end()}, std::move(text)})}
    {
        for (std::string const& key : more_->others) hash_ = hash_ * 31 + hash_of(key);
    }

    // One side of a read-write lock. `want`: the key of the wish.
    resource(std::string const& key, std::string text, side of, std::string want)
        : hash_{hash_of(key)}, first_{std::string_view{key}}, more_{std::make_unique<more>(more{{}, std::move(text), {std::move(want)}})}
    {
        more_->which = of;
        if (is_for_readers()) hash_ = hash_ * 31 + 1;
    }

    // `wanted` permits of a semaphore. Its keys are all slots, in the order of the pool.
    resource(std::shared_ptr<permit_pool const> of, std::uint32_t wanted, std::string text)
        : hash_{hash_of(of->record) * 31 + 2 + wanted},
          first_{std::string_view{of->keys.front()}},
          more_{std::make_unique<more>(more{{of->keys.begin() + 1, of->keys.end()}, std::move(text)})}
    {
        more_->which = side::permits;
        more_->pool = std::move(of);
        more_->wanted = wanted;
    }

    // Slots of a semaphore: the exclusive locks that a lease on permits consists of. `of` is what was asked for; `chosen` are indices of its pool.
    resource(resource_ptr of, std::vector<std::size_t> const& chosen) : resource{slots_of(*of->pool(), chosen)}
    {
        for (std::size_t const i : chosen) more_->slots.push_back(of->pool()->slots[i].number);
        more_->pool = of->more_->pool;
        more_->permits = std::move(of);
    }

    // How it is acquired, or held.
    lock_mode mode() const noexcept
    {
        if (is_for_readers()) return lock_mode::shared;
        return is_for_permits() || is_of_slots() ? lock_mode::permit : lock_mode::exclusive;
    }

    side which() const noexcept { return more_ ? more_->which : side::exclusive; }

    bool is_for_permits() const noexcept { return which() == side::permits; }
    bool is_of_slots() const noexcept { return more_ && more_->permits; }

    // Of permits and of slots: the key under which a client counts those that it has. Otherwise empty.
    std::string_view counted_as() const noexcept { return pool() ? std::string_view{pool()->record} : std::string_view{}; }

    // What was asked for when this was acquired.
    resource const& asked() const noexcept { return is_of_slots() ? *more_->permits : *this; }

    // Of permits and of slots; otherwise null.
    permit_pool const* pool() const noexcept { return more_ ? more_->pool.get() : nullptr; }

    std::shared_ptr<permit_pool const> const& shared_pool() const noexcept { return more_->pool; }

    // Of permits: how many. Precondition: is_for_permits().
    std::uint32_t permit_count() const noexcept { return more_->wanted; }

    // Of slots: what was asked for, and their numbers, the smallest first. The keys are sorted as texts, so the first key need not be that of the first
    // number.
    resource_ptr const& shared_asked() const noexcept { return more_->permits; }
    std::span<std::uint32_t const> slots() const noexcept
    {
        return more_ ? std::span<std::uint32_t const>{more_->slots} : std::span<std::uint32_t const>{};
    }

    bool is_for_readers() const noexcept { return which() == side::reader; }
    bool leaves_a_wish() const noexcept { return which() == side::writer; }

    // The key of the wish. Precondition: it is a side of a read-write lock.
    std::string const& wish_key() const noexcept { return more_->want.front(); }

    // The keys on the nodes.
    std::string_view first() const noexcept { return first_; }
    std::span<std::string const> others() const noexcept
    {
        return more_ ? std::span<std::string const>{more_->others} : std::span<std::string const>{};
    }

    // The keys besides the first that a waiter has to watch.
    std::span<std::string const> watched() const noexcept
    {
        return is_for_readers() ? std::span<std::string const>{more_->want} : others();
    }

    // For people.
    std::string_view text() const noexcept { return more_ ? std::string_view{more_->text} : first(); }

    // Of all names.
    std::size_t hash() const noexcept { return hash_; }

    // Readers of a name are another lock than its writers: they wait in queues of their own.
    friend bool operator==(resource const& a, resource const& b) noexcept
    {
        return &a == &b || (a.hash_ == b.hash_ && a.first_ == b.first_ && a.is_for_readers() == b.is_for_readers() &&
                            a.is_for_permits() == b.is_for_permits() && (!a.is_for_permits() || a.permit_count() == b.permit_count()) &&
                            std::ranges::equal(a.others(), b.others()));
    }

private:
    struct more {
        std::vector<std::string> others;
        std::string text;
        std::vector<std::string> want{};  // one, or none
        std::shared_ptr<permit_pool const> pool{};
        resource_ptr permits{};
        std::vector<std::uint32_t> slots{};
        std::uint32_t wanted{0};
        side which{side::exclusive};
    };

    static resource slots_of(permit_pool const& pool, std::vector<std::size_t> const& chosen)
    {
        std::vector<std::string> keys;
        std::string text;
        for (std::size_t const i : chosen) {
            keys.push_back(pool.slots[i].key);
            text += (text.empty() ? "" : ", ") + pool.slots[i].name;
        }
        std::sort(keys.begin(), keys.end());
        return {keys, std::move(text)};
    }

    static std::uint32_t hash_of(std::string_view name) noexcept { return static_cast<std::uint32_t>(std::hash<std::string_view>{}(name)); }

    std::uint32_t hash_;  // lies beside the count of the base
    boost::container::string first_;  // 24 bytes, of which up to 22 characters need no others
    std::unique_ptr<more> more_;  // most are exclusive, and have one name, which is the key
};

// A lock, as its acquisitions and leases know it.
class lock_descriptor final : public resource {
public:
    lock_descriptor(resource names, std::shared_ptr<resolved_options const> t) : resource{std::move(names)}, under{std::move(t)} {}

    std::shared_ptr<resolved_options const> const under;
};

inline lock_descriptor_ptr make_descriptor(resource names, std::shared_ptr<resolved_options const> under)
{
    return lock_descriptor_ptr{new lock_descriptor{std::move(names), std::move(under)}};
}

}  // namespace redlock::detail

#endif
