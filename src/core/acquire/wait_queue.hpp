// The acquisitions of this client that wait for one lock, in order. lock_table owns the wait queues.
//
// Only the first acquisition talks to the nodes; a lease that is released goes to the next one without them. A wait queue also records contention
// by other clients, for a while after it has become empty. quorum/waiting/contention.hpp decides what the first acquisition does next.
#ifndef REDLOCK_CORE_ACQUIRE_WAIT_QUEUE_HPP
#define REDLOCK_CORE_ACQUIRE_WAIT_QUEUE_HPP

#include "core/acquire/acquisition.hpp"
#include "core/acquire/lock_kind.hpp"
#include "core/lease/lease_record.hpp"
#include "protocol/reply.hpp"
#include "quorum/waiting/contention.hpp"

#include <redlock/detail/resource.hpp>

#include <cstddef>
#include <memory>
#include <vector>

namespace redlock::detail {

class attempt;
class lock_table;

class wait_queue final : public timer, public std::enable_shared_from_this<wait_queue> {
public:
    // `of`: the kind of lock, or null. `lease`: this client's lease of the lock, or null.
    wait_queue(lock_table& in, resource_ptr what, lock_kind const* of, lease_record* lease);
    ~wait_queue();

    void join(acquisition& who, time_point now);
    void leave(acquisition& who);
    bool empty() const noexcept { return queue_.empty(); }
    acquisition& first() noexcept { return queue_.front(); }
    acquisition const& first() const noexcept { return queue_.front(); }
    std::vector<std::shared_ptr<acquisition>> waiting_for(owner_id owner);

    quorum::lock_outlook outlook() const noexcept { return contention_.outlook(); }

    // This client's lease of the lock, or null.
    lease_record* here() const noexcept { return here_; }

    // A lease was won on the nodes, by an acquisition in this queue or by one that did not wait.
    void won(lease_record& lease, bool winner_waits_here, time_point now);

    // The same of a lock that several hold at the same time: this client got one lease more, or has one less.
    void won_beside_others(time_point now);
    void vacated_beside_others(lease_record& lease, bool released, time_point now);

    // Those of the kind of lock; null: it is exclusive.
    queue_rules* rules() const noexcept { return rules_.get(); }
    lock_table& table() const noexcept { return in_; }
    acquisition::list<hook_of_queue> const& waiting() const noexcept { return queue_; }

    // All who wait make their attempts.
    void attempt_all(time_point now);

    // Whether the lease may be handed over to the next acquisition in the wait queue.
    bool may_hand_over(lease_record& lease, time_point now) const;
    void handed_over(lease_record& lease);

    // This client does not have the lease any more.
    void vacated(lease_record& lease, bool released, time_point now);

    // An attempt was not won: that of the first acquisition, or of a reader behind it.
    void failed(acquisition& who, attempt const& lost, time_point now);

    // A key has changed on a node.
    void changed(std::size_t node, time_point now);

    // This client itself is about to free a key on a node.
    void freed_by_us(std::size_t node, time_point now);

    // The connection to a node is lost, so its answers and pushes will not come.
    void silent(std::size_t node, time_point now);

    void on_timer(time_point now) override;

    // Decides what the first acquisition does next, and does it or sets the timer.
    void consider(time_point now);

    // Whether there is contention to record, by other clients or of this client's own turn; and until when.
    bool has_news(time_point now) const noexcept;
    time_point over_at() const noexcept { return contention_.over_at(); }

    // The client is destroyed: the waiting acquisitions are dropped without being told.
    void abandon() noexcept { queue_.clear(); }

    resource_ptr const what;

    // lock_table's notes on this wait queue.
    struct table_entry {
        bool is_listed{false};
        bool is_retiring{false};
        std::shared_ptr<wait_queue> self{};  // keeps this wait queue alive while it is in the table
    };
    table_entry in_table;

private:
    class probe;
    class wish;

    void wait_for_this_client(time_point now);
    void carry_out(quorum::wait_move move, time_point now);
    void attempt_and_probe(quorum::wait_move move, time_point now);
    time_point leave_wish(time_point now);
    void withdraw_wish();
    void probe_or_attempt(time_point now);
    void send_probe(std::shared_ptr<attempt> const& along_with);
    void on_probe(probe const& asked, std::size_t node, reply const& answer, time_point now);

    lock_table& in_;
    acquisition::list<hook_of_queue> queue_;
    lease_record* here_{nullptr};  // this client's lease of the lock
    quorum::contention contention_;
    std::unique_ptr<queue_rules> const rules_;
    std::shared_ptr<wish> wish_;  // writers of a read-write lock, while the first one waits
};

}  // namespace redlock::detail

#endif
