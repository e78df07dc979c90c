// An observer that makes spans of events: redlock.acquire, then redlock.hold, with a redlock.extend for each extension and a redlock.release in it.
#ifndef REDLOCK_EXAMPLES_TRACING_LOCK_SPANS_HPP
#define REDLOCK_EXAMPLES_TRACING_LOCK_SPANS_HPP

#include "tracer.hpp"

#include <redlock/observer.hpp>

#include <functional>
#include <map>
#include <utility>

namespace tracing {

// For one client. Events are told after they happened, so each span is made with the times that its event tells.
class lock_spans final : public redlock::observer {
public:
    // `parent`: the span in which a lock is acquired; nothing known: the acquisition begins a trace.
    using parents = std::function<span_ids(std::string_view lock)>;
    explicit lock_spans(
        std::shared_ptr<tracer> to, parents parent = [](std::string_view) { return span_ids{}; })
        : to_{std::move(to)}, parent_{std::move(parent)}
    {
    }

    // Of the span that the event belongs to which was told last: for a log that is told after this observer.
    span_ids const& ids() const noexcept { return ids_; }

    void on(redlock::event::any const& what) override
    {
        ids_ = {};
        observer::on(what);
    }

protected:
    void on_acquired(redlock::event::acquired const& e) override
    {
        auto const parent = parent_(e.lock);
        auto const acquire = start("redlock.acquire", parent, e.at - us(e.waited), e.lock);
        acquire->set("redlock.attempts", e.attempts);
        acquire->set("redlock.origin", to_string(e.origin));
        acquire->end(e.at);
        if (e.origin == redlock::event::origin::nested) return;  // it has no end of its own
        auto hold = start("redlock.hold", parent, e.at, e.lock);
        hold->set("redlock.token", static_cast<std::int64_t>(e.token));
        hold->set("redlock.nodes_held", e.nodes_held);
        holds_[{std::string{e.lock}, e.token}] = std::move(hold);
    }

    void on_not_acquired(redlock::event::not_acquired const& e) override
    {
        auto const acquire = start("redlock.acquire", parent_(e.lock), e.at - us(e.waited), e.lock);
        acquire->set("redlock.attempts", e.attempts);
        acquire->fail(e.why.message());
        acquire->end(e.at);
    }

    void on_extended(redlock::event::extended const& e) override
    {
        auto const extend = start("redlock.extend", ids_of(e), e.at - us(e.took), e.lock);
        extend->set("redlock.nodes_held", e.nodes_held);
        extend->end(e.at);
    }

    void on_extension_failed(redlock::event::extension_failed const& e) override
    {
        auto const extend = start("redlock.extend", ids_of(e), e.at - us(e.took), e.lock);
        extend->fail(to_string(e.outcome));
        extend->end(e.at);
    }

    void on_lost(redlock::event::lost const& e) override
    {
        auto const hold = holds_.find({std::string{e.lock}, e.token});
        if (hold == holds_.end()) return;
        ids_ = hold->second->ids();
        hold->second->add_event("lost", e.at);
        hold->second->fail(e.why.message());
    }

    void on_released(redlock::event::released const& e) override
    {
        auto const began = e.at - us(e.took);
        auto const release = start("redlock.release", ids_of(e), began, e.lock);
        if (e.result) release->fail(e.result.message());
        release->end(e.at);
        end_hold(e, began);
    }

    void on_handoff(redlock::event::handoff const& e) override { end_hold(e, e.at); }
    void on_detached(redlock::event::detached const& e) override { end_hold(e, e.at); }

    // Ends may be among them.
    void on_dropped(redlock::event::dropped const& e) override
    {
        for (auto& [lock, hold] : holds_) {
            hold->fail("events were dropped: its end is unknown");
            hold->end(e.at);
        }
        holds_.clear();
    }

private:
    static std::chrono::microseconds us(redlock::event::duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d); }

    std::shared_ptr<span> start(std::string_view name, span_ids const& parent, time at, std::string_view lock)
    {
        auto made = to_->start(name, parent, at);
        made->set("redlock.lock", lock);
        ids_ = made->ids();
        return made;
    }

    template <class Event>
    span_ids ids_of(Event const& e) const
    {
        auto const hold = holds_.find({std::string{e.lock}, e.token});
        return hold == holds_.end() ? span_ids{} : hold->second->ids();
    }

    template <class Event>
    void end_hold(Event const& e, time at)
    {
        auto const hold = holds_.find({std::string{e.lock}, e.token});
        if (hold == holds_.end()) return;
        ids_ = hold->second->ids();
        hold->second->end(at);
        holds_.erase(hold);
    }

    std::shared_ptr<tracer> to_;
    parents parent_;
    std::map<std::pair<std::string, std::uint64_t>, std::shared_ptr<span>> holds_;  // by lock and token
    span_ids ids_;
};

}  // namespace tracing

#endif
