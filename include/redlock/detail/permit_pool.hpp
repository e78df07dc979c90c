// The permits of a semaphore, as all of its acquisitions and leases in a client know them.
#ifndef REDLOCK_DETAIL_PERMIT_POOL_HPP
#define REDLOCK_DETAIL_PERMIT_POOL_HPP

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

class permit_pool {
public:
    struct slot {
        std::uint32_t number;
        std::string key;
        std::string name;  // for people
    };

    permit_pool(std::string key_of_record, std::uint32_t how_many, std::vector<slot> all)
        : record{std::move(key_of_record)}, permits{how_many}, slots{std::move(all)}
    {
        for (slot const& each : slots) keys.push_back(each.key);
    }

    std::string const record;  // the key of the number of permits
    std::uint32_t const permits;  // the number that clients have to say
    std::vector<slot> const slots;  // those to acquire; all that there are, but for change_permits()
    std::vector<std::string> keys;  // theirs

    bool has_all() const noexcept { return slots.size() == permits && slots.front().number == 0; }

    // The version of that number, as far as the nodes have shown it.
    std::uint64_t version() const noexcept { return version_.load(std::memory_order_relaxed); }
    void saw_version(std::uint64_t shown) const noexcept
    {
        auto known = version();
        while (known < shown && !version_.compare_exchange_weak(known, shown, std::memory_order_relaxed)) {}
    }

private:
    mutable std::atomic<std::uint64_t> version_{1};
};

}  // namespace redlock::detail

#endif
