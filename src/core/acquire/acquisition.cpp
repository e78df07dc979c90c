#include "core/acquire/acquisition.hpp"

#include "core/acquire/acquisitions.hpp"

namespace redlock::detail {

namespace {

constexpr time_point never = time_point::max();

}  // namespace

acquisition::acquisition(acquisitions& owner, std::shared_ptr<lease_core> of, acquire_request&& what_is_wanted,
                         lease_handler&& whom_to_tell, time_point now)
    : from{std::move(of)},
      request{std::move(what_is_wanted)},
      handler{std::move(whom_to_tell)},
      started{now},
      deadline{options().acquire_timeout ? now + *options().acquire_timeout : never},
      awaited_by{request.within ? request.within->asker : handler.slot()},
      owner_{owner},
      delay_{options().min_retry_delay, options().max_retry_delay},
      asks_why_{handler.asks_why()}
{
}

void acquisition::on_timer(time_point now)
{
    auto const self = shared_from_this();
    if (now >= deadline) {
        auto const why = owner_.why_too_late(*this);
        owner_.give_up_attempt_of(*this);
        return owner_.finish(*this, why, {});
    }
    if (!current) owner_.try_now(*this, now);
}

bool acquisition::is_awaited_in(scope_coroutines const& scope) const noexcept
{
    return awaited_by.is_connected() && awaited_by == scope.body.load();
}

void acquisition::was_not_sent(std::size_t nodes, std::string_view why)
{
    if (!is_reported()) return;
    verdicts.assign(nodes, {});
    for (node_verdict& v : verdicts) v.detail = "not asked: " + std::string{why};
}

bool acquisition::takes_what_is_held(lease_record const& lease) const noexcept
{
    return !stop_when_idle && lease.what->under->compatible_with(*request.what->under);
}

}  // namespace redlock::detail
