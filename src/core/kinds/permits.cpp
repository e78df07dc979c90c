// Permits of a semaphore. A lease on permits is one on as many slots, which are exclusive locks, and as which it is confirmed, extended and released.
#include "core/acquire/acquisitions.hpp"
#include "core/acquire/self_deadlock.hpp"
#include "core/kinds/kinds.hpp"
#include "core/kinds/permit_attempt.hpp"

#include <redlock/detail/permit_pool.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace redlock::detail {

namespace {

// How many this client has.
std::size_t permits_here(permit_pool const& of, lock_table const& table)
{
    std::size_t count = 0;
    table.each_beside_others(of.record, [&](lease_record const& lease) { count += lease.what->slots().size(); });
    return count;
}

// Whether this client itself has so many that too few are left.
bool leaves_too_few(resource const& asked, lock_table const& table)
{
    permit_pool const& pool = *asked.pool();
    return table.has_any_beside_others() && pool.has_all() && permits_here(pool, table) + asked.permit_count() > pool.permits;
}

class permit_rules final : public queue_rules {
public:
    explicit permit_rules(wait_queue& of) noexcept : of_{of} {}

    quorum::wait_odds::of_lock sides() const noexcept override { return quorum::wait_odds::of_lock::counted; }
    void begin() noexcept override { watched_ = {}; }
    void won() noexcept override { watched_ = {}; }
    void races() noexcept override { watched_.raced = true; }
    void failed() noexcept override
    {
        if (std::exchange(watched_.raced, false)) watched_.count = std::max(watched_.count / 2, min_watched);
    }

    // Those behind the first need not wait for it: as many as there are permits.
    bool goes_along(acquisition const& who) const override
    {
        permit_pool const& pool = *of_.what->pool();
        auto const wanted = of_.what->permit_count();
        if (of_.table().is_closed()) return false;
        std::size_t taken = permits_here(pool, of_.table());
        for (acquisition const& each : of_.waiting()) {
            if (!each.is_attempting()) break;
            taken += wanted;
        }
        return of_.first().is_attempting() && &who != &of_.first() && taken + wanted <= pool.permits;
    }

    bool is_used_up_here() const override { return leaves_too_few(*of_.what, of_.table()); }

    // Slots that stand together, other ones each time.
    void choose_keys(command& probe) override
    {
        std::span<std::string const> const keys{of_.what->pool()->keys};
        watched_.count = std::min(watched_.count, keys.size());
        auto const first = of_.table().random_below(keys.size() - watched_.count + 1);
        probe.key = keys[first];
        probe.others = keys.subspan(first + 1, watched_.count - 1);
        probe.any = true;
    }

private:
    static constexpr std::size_t max_watched = 8;
    static constexpr std::size_t min_watched = 2;

    wait_queue& of_;
    // The slots that nodes are asked to watch. So a release wakes only some of those who wait.
    struct {
        std::size_t count{max_watched};
        bool raced{false};  // the attempt under way was made because one of them had become free
    } watched_;
};

class permit_kind final : public lock_kind {
public:
    errc why_never(resource const& asked) const noexcept override
    {
        bool const is_possible = asked.permit_count() > 0 && asked.permit_count() <= asked.pool()->slots.size();
        return is_possible ? errc{} : errc::too_many_permits;
    }

    std::string_view why_not_now(resource const& asked, lock_table const& table) const override
    {
        return leaves_too_few(asked, table) ? "this client holds so many permits that too few are left" : std::string_view{};
    }

    // Whether too few would be left even if every other holder released its own, since scopes that await this acquisition keep the rest.
    bool waits_for_itself(acquisition const& asking, lock_table const& table, time_point) const override
    {
        permit_pool const& pool = *asking.request.what->pool();
        std::size_t kept = 0;
        table.each_beside_others(pool.record, [&](lease_record const& lease) {
            if (!is_awaited_by_its_holder(asking, lease)) return;
            // A lease may have slots that a semaphore of the present size does not have.
            for (std::uint32_t const slot : lease.what->slots())
                kept += static_cast<std::size_t>(std::ranges::count(pool.slots, slot, &permit_pool::slot::number));
        });
        return kept > 0 && kept + asking.request.what->permit_count() > pool.slots.size();
    }

    std::shared_ptr<attempt> make_attempt(acquisitions& owner, acquisition& what, std::shared_ptr<lease_record> record,
                                          time_point now) const override
    {
        auto const from = owner.locks().random_below(record->what->pool()->keys.size());
        return make_recycled<permit_attempt>(owner, what, std::move(record), now, from);
    }

    void send(pending_request&& asked, acquisition const& what, fanout& to) const override
    {
        asked.request.change_more().wanted = what.request.what->permit_count();
        asked.request.change_more().from = static_cast<std::uint32_t>(static_cast<permit_attempt const&>(*what.current).from());
        to.add(std::move(asked));
    }

    std::unique_ptr<queue_rules> make_rules(wait_queue& of) const override { return std::make_unique<permit_rules>(of); }
};

constexpr permit_kind permits_kind{};

}  // namespace

lock_kind const& kind_of_permits() noexcept { return permits_kind; }

}  // namespace redlock::detail
