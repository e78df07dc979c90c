#include "client/sharded_core.hpp"

#include "base/cancellation.hpp"
#include "client/shard_choice.hpp"
#include "core/lease/ticket.hpp"
#include "core/resolved_options.hpp"
#include "protocol/keys.hpp"

#include <redlock/detail/initiation.hpp>
#include <redlock/detail/lease_state.hpp>
#include <redlock/lease.hpp>

#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/strand.hpp>
#include <boost/pfr/core.hpp>

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <utility>

namespace redlock::detail {

namespace {

// Counters add up, and the longest overrun is the longest of all.
void merge(std::uint64_t& to, std::uint64_t from) noexcept { to += from; }
void merge(std::chrono::nanoseconds& to, std::chrono::nanoseconds from) noexcept { to = std::max(to, from); }

template <std::size_t... Member>
void merge(client_counters& to, client_counters const& from, std::index_sequence<Member...>) noexcept
{
    (merge(boost::pfr::get<Member>(to), boost::pfr::get<Member>(from)), ...);
}

class serial_observer final : public observer {
public:
    serial_observer(std::shared_ptr<observer> to, asio::any_io_executor const& executor)
        : to_{std::move(to)}, strand_{asio::make_strand(executor)}
    {
    }

    asio::any_io_executor executor() const override { return strand_; }
    std::size_t max_queued_events() const override { return to_->max_queued_events(); }
    void on(event::any const& what) override { to_->on(what); }

private:
    std::shared_ptr<observer> to_;
    asio::strand<asio::any_io_executor> strand_;
};

}  // namespace

sharded_core::sharded_core(std::vector<std::shared_ptr<core>> shards, admission admissions)
    : shards_{std::move(shards)}, admissions_to_begin_{admissions == admission::together}
{
    assert(!shards_.empty());
}

std::shared_ptr<resolved_options const> sharded_core::resolved_options_of(lock_options const& options)
{
    return shards_.front()->resolved_options_of(options);
}

namespace {

// The name of a semaphore decides, and not the keys of its slots, which are made of it.
std::size_t shard_of_pool(permit_pool const& of, std::size_t shards)
{
    std::string_view key{of.record};
    key.remove_suffix(permits_suffix.size());
    return shard_of(key, shards);
}

}  // namespace

std::shared_ptr<core> sharded_core::shard_of(resource const& what)
{
    if (admissions_to_begin_.exchange(false)) begin_admission();
    if (auto const* const pool = what.pool()) return shards_[shard_of_pool(*pool, shards_.size())];
    return shards_[detail::shard_of(what.first(), what.others(), shards_.size())];
}

void sharded_core::all_of(operation what, bool (*observes)(asio::cancellation_type_t), plain_handler&& handler)
{
    // Without an executor of their own, the operations of a parallel group would complete on threads of the system executor.
    auto const start = [&](std::shared_ptr<core> const& shard) {
        auto token = asio::bind_executor(get_executor(), asio::deferred);
        return asio::async_initiate<decltype(token), void(error_code)>(initiate_on_core{shard, what}, token);
    };
    std::vector<decltype(start(shards_.front()))> operations;
    for (auto const& shard : shards_) operations.push_back(start(shard));
    auto slot = handler.slot();
    // A group forwards the first cancellation only, which must be one that the operations observe.
    auto const observed = std::make_shared<asio::cancellation_signal>();
    if (slot.is_connected())
        slot.assign([observed, observes](asio::cancellation_type_t type) {
            if (observes(type)) observed->emit(type);
        });
    auto done = [h = std::move(handler), observed](std::vector<std::size_t> const&, std::vector<error_code> const& errors) mutable {
        auto const failed = std::find_if(errors.begin(), errors.end(), [](error_code ec) { return static_cast<bool>(ec); });
        h(failed == errors.end() ? error_code{} : *failed);
    };
    asio::experimental::make_parallel_group(std::move(operations))
        .async_wait(asio::experimental::wait_for_all(),
                    asio::bind_executor(get_executor(), asio::bind_cancellation_slot(observed->slot(), std::move(done))));
}

void sharded_core::run(plain_handler&& handler) { all_of(&core::run, &gives_up, std::move(handler)); }

void sharded_core::drain(plain_handler&& handler) { all_of(&core::drain, &at_any, std::move(handler)); }

void sharded_core::cancel() noexcept
{
    for (auto const& shard : shards_) shard->cancel();
}

void sharded_core::begin_admission()
{
    for (auto const& shard : shards_) shard->begin_admission();
}

client_status sharded_core::status() const
{
    client_status all;
    for (std::size_t i = 0; i < shards_.size(); ++i) {
        auto one = shards_[i]->status();
        for (node_status& n : one.nodes) {
            n.shard = i;
            all.nodes.push_back(std::move(n));
        }
        merge(all.counters, one.counters, std::make_index_sequence<boost::pfr::tuple_size_v<client_counters>>{});
        all.leases += one.leases;
        all.waiting += one.waiting;
        all.releases_pending += one.releases_pending;
    }
    return all;
}

void sharded_core::ask_permits(permit_query&& what, permits_handler&& handler)
{
    auto const shard = shard_of_pool(*what.of, shards_.size());
    shards_[shard]->ask_permits(std::move(what), std::move(handler));
}

void sharded_core::acquire(acquire_request&& request, lease_handler&& handler)
{
    auto const shard = shard_of(*request.what);
    shard->acquire(std::move(request), std::move(handler));
}

// A text that is no ticket is refused by any shard in the same words.
void sharded_core::adopt(adopt_request&& request, lease_handler&& handler)
{
    ticket t;
    bool const readable = read_ticket(request.ticket, t) == errc{};
    shards_[readable ? detail::shard_of(t.keys.front(), shards_.size()) : 0]->adopt(std::move(request), std::move(handler));
}

void sharded_core::peek(peek_request&& request, peek_handler&& handler)
{
    auto const shard = shard_of(*request.what);
    shard->peek(std::move(request), std::move(handler));
}

void sharded_core::pause(boot_clock::duration min, boot_clock::duration max, plain_handler&& handler)
{
    shards_.front()->pause(min, max, std::move(handler));
}

std::shared_ptr<observer> one_at_a_time(std::shared_ptr<observer> to, asio::any_io_executor const& executor)
{
    auto const own = to->executor();
    return std::make_shared<serial_observer>(std::move(to), own ? own : executor);
}

std::function<void(std::string_view)> log_of_shard(std::function<void(std::string_view)> to, std::size_t shard)
{
    if (!to) return {};
    return [to = std::move(to), prefix = "shard " + std::to_string(shard) + ": "](std::string_view sentence) {
        to(prefix + std::string{sentence});
    };
}

}  // namespace redlock::detail
