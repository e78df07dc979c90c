#include "core/acquire/acquisition.hpp"

#include "base/to_error.hpp"
#include "core/acquire/acquisitions.hpp"

#include <utility>

namespace redlock::detail {

namespace {

constexpr time_point never = time_point::max();

// How the last attempt ended, or would have: an acquisition behind others of its client has made none.
error_code outcome_of(acquisition const& what, error_code ec)
{
    if (!ec || ec == errc::client_not_running) return ec;
    if (ec == errc::acquire_timed_out_no_majority && what.last_outcome == condition::contended) return errc::no_majority;
    return what.last_outcome ? what.last_outcome : ec;
}

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

void acquisition::report(error_code ec)
{
    if (!request.report && !ec) return;
    if (!is_reported()) return;
    auto made = report_of(ec);
    if (request.report) handler.while_awaited([&] { *request.report = made; });
    if (!ec) return;
    handler.explain([&](failure_note& note) {
        note.lock = request.what->text();
        note.last_attempt = std::move(made);
    });
}

attempt_report acquisition::report_of(error_code ec)
{
    environment const& env = owner_.env();
    attempt_report report;
    report.outcome = outcome_of(*this, ec);
    report.attempts = attempts;
    report.elapsed = to_microseconds(env.now() - started);
    report.nodes = std::move(verdicts);
    report.mode = request.what->mode();
    if (ec == errc::client_not_running) {
        report.nodes.assign(env.to_nodes->nodes(), {{}, vote::failed, ec, {}, {}});
    } else if (report.nodes.empty() && ec) {
        auto const now = env.now();
        report.nodes.resize(env.to_nodes->nodes());
        for (std::size_t node = 0; node < report.nodes.size(); ++node)
            if (auto const* const why = env.to_nodes->why_not_asked(node, options().fencing, now))
                report.nodes[node] = {{}, vote::failed, to_error(why->error), why->words(), {}};
    }
    for (std::size_t node = 0; node < report.nodes.size(); ++node) report.nodes[node].node = env.to_nodes->name(node);
    return report;
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
