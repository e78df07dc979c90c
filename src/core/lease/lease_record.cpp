#include "core/lease/lease_record.hpp"

#include "core/lease/lease_registry.hpp"

namespace redlock::detail {

namespace {

// How much sooner than necessary an extension may go out to share a round with one that is due.
constexpr duration max_early = std::chrono::milliseconds{50};
constexpr int early_fraction = 16;  // of extend_interval

}  // namespace

void lease_record::on_timer(time_point now)
{
    auto const self = shared();
    registry()->on_timer(*this, now);
}

std::shared_ptr<lease_record> const& lease_record::shared() const noexcept
{
    assert(registry() != nullptr);
    return registry_->held_at(index_);
}

command lease_record::request(verb of) const
{
    command c{of, what->first(), value.tail(), what->under->key_ttl};
    c.value_bytes = value.bytes();
    c.fenced = is_fenced();
    c.block = what->under->tokens.reserved;
    c.retention = what->under->tokens.retention;
    c.token = guard();
    c.others = what->others();
    c.shared = reads();
    c.was_writer = is_downgraded();
    if (permit_pool const* const pool = what->pool(); pool && (of == verb::acquire || of == verb::extend)) {
        c.permits = pool->permits;
        c.change_more().permits_key = pool->record;
        c.change_more().version = pool->version();
    }
    return c;
}

std::shared_ptr<lease_handle> lease_record::add()
{
    std::shared_ptr<lease_handle> added{shared(), &first};
    if (first.is != lease_handle::presence::not_yet) {
        added = make_recycled<extra_lease_handle>(shared());
        show_to(*added);
        with_cold().handles.push_back(added);
    }
    added->is = lease_handle::presence::here;
    return added;
}

std::shared_ptr<lease_handle> lease_record::add_handle(std::size_t nodes)
{
    auto const h = add();
    h->set_nodes(nodes);
    if (reads()) h->becomes_reader();
    if (is_fenced() && h.get() != &first) {  // which got its tokens with the record
        assert(!reads() && has_tokens_for_another());
        tokens_left -= what->under->tokens.block;
        h->last_token = last_reserved() - tokens_left;
        h->token.store(h->last_token + 1 - what->under->tokens.block, std::memory_order_relaxed);
    }
    return h;
}

std::shared_ptr<lease_handle> lease_record::add_nested()
{
    assert(has_handles());
    lease_handle const& outer = first.is_here() ? first : *cold_->handles.front();
    auto const h = add();
    h->set_nodes(outer.nodes());
    if (outer.is_of_reader()) h->becomes_reader();
    h->token.store(outer.token.load(std::memory_order_relaxed), std::memory_order_relaxed);
    h->last_token = h->token;
    return h;
}

std::shared_ptr<lease_handle> lease_record::add_adopted(std::size_t nodes, quorum::token_number token, quorum::token_number last)
{
    auto const h = add();
    h->set_nodes(nodes);
    h->token.store(token, std::memory_order_relaxed);
    h->last_token = last;
    return h;
}

void lease_record::remove(lease_handle const& who) noexcept
{
    if (cold_) std::erase_if(cold_->handles, [&](auto const& h) { return h.get() == &who; });
}

void lease_record::asked_for(std::shared_ptr<extension> const& e)
{
    auto& all = with_cold().asked_for;
    std::erase_if(all, [](auto const& weak) { return weak.expired(); });
    all.push_back(e);
}

std::vector<std::weak_ptr<extension>> lease_record::extensions_asked_for() const
{
    return cold_ ? cold_->asked_for : std::vector<std::weak_ptr<extension>>{};
}

void lease_record::clear() noexcept
{
    leave_registry();
    first.drop_waiters();
    auto const gone = std::exchange(cold_, nullptr);
    if (!gone) return;
    for (auto const& h : gone->handles) h->drop_waiters();
}

quorum::lease_duty lease_record::duty_soon(time_point now) const
{
    return machine.duty(now, std::min<duration>(max_early, what->under->times.extend_interval / early_fraction));
}

}  // namespace redlock::detail
