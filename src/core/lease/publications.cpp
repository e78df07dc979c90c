#include "core/lease/publications.hpp"

#include "core/lease/state_rounds.hpp"
#include "protocol/state_text.hpp"

#include <utility>

namespace redlock::detail {

// errc{}: none.
errc publications::objection_to(lease_handle const& by, time_point now)
{
    lease_record& what = by.of();
    if (!what.is_fenced() || what.reads() || !what.what->others().empty()) return errc::state_unsupported;
    leases_.lose_if_over(what, now);
    switch (by.phase.load()) {
    case lease_phase::held: return errc{};
    case lease_phase::lost: return by.lost_because.load();
    case lease_phase::released: break;
    }
    return errc::not_held;
}

std::shared_ptr<publish_round> publications::publish(lease_handle const& by, std::string const& bytes, plain_handler&& handler,
                                                     time_point now)
{
    errc const objection = bytes.size() > max_state_size ? errc::state_too_large : objection_to(by, now);
    if (objection != errc{}) {
        handler.explain([&](failure_note& note) { note.reason = by.loss_reason(); });
        handler(objection);
        return nullptr;
    }
    lease_record& record = by.of();
    auto text = state_text(by.token.load(std::memory_order_relaxed), record.value.text(), bytes);
    quorum::state_stamp const stamp{record.guard(), record.next_publication()};
    auto const kept = std::make_shared<stamped_state const>(stamped_state{stamp, std::move(text)});
    record.set_published(kept);
    auto const made = std::make_shared<publish_round>(*this, record.shared(), kept, now);
    made->set_handler(std::move(handler));
    keep(made);
    made->send();
    return made;
}

std::shared_ptr<inherit_round> publications::inherit(lease_handle const& by, state_handler&& handler, time_point now)
{
    if (errc const objection = objection_to(by, now); objection != errc{}) {
        handler.explain([&](failure_note& note) { note.reason = by.loss_reason(); });
        handler(objection, published_state{});
        return nullptr;
    }
    auto const made = std::make_shared<inherit_round>(*this, by.of().shared(), std::move(handler), now);
    keep(made);
    made->send();
    return made;
}

void publications::publish_again(lease_record& what, time_point now)
{
    if (auto const latest = what.published()) std::make_shared<publish_round>(*this, what.shared(), latest, now)->send();
}

}  // namespace redlock::detail
