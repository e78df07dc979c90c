// How operations come from any thread to the strand of their client, and how their cancellation follows them.
#ifndef REDLOCK_CLIENT_STRAND_ENTRANCE_HPP
#define REDLOCK_CLIENT_STRAND_ENTRANCE_HPP

#include "base/cancellation.hpp"
#include "base/mailbox.hpp"
#include "base/start_inline.hpp"
#include "core/environment.hpp"
#include "core/lease/lease_record.hpp"
#include "core/lease/waiter.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace redlock::detail {

class strand_entrance : public std::enable_shared_from_this<strand_entrance> {
public:
    using strand_type = fanout::strand_type;

protected:
    // `single`: engine_settings::single.
    strand_entrance(asio::any_io_executor outer, strand_type strand, run_here_function run_here, asio::io_context* single);
    ~strand_entrance() = default;

    asio::any_io_executor const& outer() const noexcept { return outer_; }
    strand_type& strand() noexcept { return *strand_; }
    asio::io_context* single() const noexcept { return single_; }
    environment& env() noexcept { return env_; }

    // Calls `f` on the strand, with the time if it takes that. `known`: what the clock said just now.
    template <class F>
    void on_strand(F f, std::optional<time_point> known = {})
    {
        task what{std::move(f)};
        // Under high contention the mailbox is faster: first all callers run, and then all their tasks, so that the code of each stays in the caches.
        if (run_here_ && !mail_.is_expected() && !env_.to_nodes->is_crowded() &&
            run_here_(what, known ? *known : env_.now(), shared_from_this()))
            return;
        bool const here = single_ && single_->get_executor().running_in_this_thread();
        if (here ? mail_.put_here(std::move(what)) : mail_.put(std::move(what))) send_for_mail();
    }

    // When the operation is cancelled in a way that it observes, what `make_undo` returned is called on the strand. An operation that cannot be cancelled
    // does not pay for it.
    template <class MakeUndo>
    void on_cancel(asio::cancellation_slot slot, bool (*heeds)(asio::cancellation_type_t), MakeUndo make_undo)
    {
        if (!slot.is_connected()) return;
        slot.assign([weak = weak_from_this(), heeds, undo = make_undo()](asio::cancellation_type_t type) {
            auto const self = weak.lock();
            if (self && heeds(type)) self->on_strand([undo, type] { undo(type); });
        });
    }

    template <class Operation>
    void abandon_on(asio::cancellation_slot slot, bool (*heeds)(asio::cancellation_type_t), std::shared_ptr<Operation> const& what)
    {
        on_cancel(slot, heeds, [&] {
            return [op = std::weak_ptr{what}](asio::cancellation_type_t) {
                if (auto const found = op.lock()) found->abandon(asio::error::operation_aborted);
            };
        });
    }

    // Keeps a handler until its operation ends. If the handler can be cancelled, calls `make_cancel` for a function, which runs on the strand when that
    // happens.
    template <class MakeCancel>
    std::shared_ptr<waiter> wait_with(plain_handler&& handler, MakeCancel make_cancel)
    {
        auto const slot = handler.slot();
        auto const w = make_recycled<waiter>(std::move(handler));
        on_cancel(slot, at_any, [&] {
            return [who = std::weak_ptr{w}, cancel = make_cancel()](asio::cancellation_type_t type) {
                if (auto const found = who.lock()) cancel(found.get(), type);
            };
        });
        return w;
    }

    // The same for what concerns a lease: `abandon` gets the handle, the waiter, and how it is cancelled.
    template <class Abandon>
    std::shared_ptr<waiter> wait_for(std::shared_ptr<lease_handle> const& whose, plain_handler&& handler, Abandon abandon)
    {
        return wait_with(std::move(handler), [&] {
            return [weak = std::weak_ptr{whose}, abandon](waiter const* who, asio::cancellation_type_t type) {
                if (auto const found = weak.lock()) abandon(*found, who, type);
            };
        });
    }

    // `what` is set on the strand, when the operation begins: one that is cancelled before is not looked for.
    template <class Operation>
    void abandon_later_on(asio::cancellation_slot slot, std::shared_ptr<std::weak_ptr<Operation>> const& what)
    {
        on_cancel(slot, gives_up, [&] {
            return [what](asio::cancellation_type_t) {
                if (auto const found = what->lock()) found->abandon(asio::error::operation_aborted);
            };
        });
    }

    // The execution context is destroyed: what is still to be called is destroyed.
    void throw_mail_away() noexcept { mail_.clear(); }
    // The same: releases everything that belongs to the context.
    void leave_context() noexcept;

private:
    void send_for_mail();

    asio::any_io_executor outer_;
    std::optional<strand_type> strand_;
    std::optional<strand_type> posting_;  // the same; never runs anything at once
    run_here_function run_here_;
    asio::io_context* single_;
    mailbox mail_;

protected:
    environment env_;
};

}  // namespace redlock::detail

#endif
