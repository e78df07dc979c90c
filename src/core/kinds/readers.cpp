// Readers of a read-write lock. Any number of them hold it at the same time.
#include "core/acquire/acquisitions.hpp"
#include "core/acquire/self_deadlock.hpp"
#include "core/kinds/kinds.hpp"

#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

class reader_rules final : public queue_rules {
public:
    explicit reader_rules(wait_queue& of) noexcept : of_{of} {}

    quorum::wait_odds::of_lock sides() const noexcept override { return quorum::wait_odds::of_lock::readers; }
    void begin() noexcept override { refused_at_ = {}; }
    bool goes_along(acquisition const&) const override { return true; }

    // Readers do not exclude each other, and those who waited for the same writer go together.
    void granted(time_point now) override
    {
        of_.attempt_all(now);
        if (!of_.table().is_closed()) refused_at_ = {};  // dropped with the grant: a later waiter has not waited before it
    }

    // By somebody who writes. The counter of that refusal is what a node lets in past the wish of the next writer.
    void refused(std::size_t node, reply const& answer) override
    {
        if (answer.writer_waits) return;
        refused_with_.resize(of_.table().env().to_nodes->nodes());
        refused_with_[node] = answer.counter;
        refused_at_.add(node);
    }

    // A probe cannot tell readers, whom a reader may join, from a writer.
    bool may_probe() const noexcept override { return false; }

    // A reader that has waited for a writer tells each node the counter that this node refused it with. All other requests are the same for all nodes.
    void send(pending_request&& asked, fanout& to) const
    {
        if (refused_at_.empty()) return to.add(std::move(asked));
        for (std::size_t node = 0; node < to.nodes(); ++node) {
            command c = asked.request;
            if (refused_at_.has(node)) c.change_more().since = static_cast<std::int64_t>(refused_with_[node]);
            auto others = quorum::node_set::all(to.nodes());
            others.remove(node);
            to.add({std::move(c), asked.asked_by, others});
        }
    }

private:
    wait_queue& of_;
    quorum::node_set refused_at_;  // nodes that have refused one of these readers since a writer has the lock
    std::vector<quorum::token_number> refused_with_;  // what each said its counter was
};

class reader_kind final : public lock_kind {
public:
    bool waits_for_itself(acquisition const& asking, lock_table const& table, time_point now) const override
    {
        bool found = false;
        table.each_on(asking.request.what->first(),
                      [&](lease_record const& lease) { found = found || is_kept_by_its_holder(asking, lease, now); });
        return found;
    }

    std::shared_ptr<attempt> make_attempt(acquisitions& owner, acquisition& what, std::shared_ptr<lease_record> record,
                                          time_point now) const override
    {
        return make_recycled<attempt>(owner, what, std::move(record), now);
    }

    void send(pending_request&& asked, acquisition const& what, fanout& to) const override
    {
        what.queue_of ? static_cast<reader_rules*>(what.queue_of->rules())->send(std::move(asked), to) : to.add(std::move(asked));
    }

    std::unique_ptr<queue_rules> make_rules(wait_queue& of) const override { return std::make_unique<reader_rules>(of); }
};

constexpr reader_kind readers_kind{};

}  // namespace

lock_kind const& kind_of_readers() noexcept { return readers_kind; }

}  // namespace redlock::detail
