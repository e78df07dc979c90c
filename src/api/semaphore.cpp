#include <redlock/detail/access.hpp>
#include <redlock/operation_error.hpp>
#include <redlock/semaphore.hpp>

#include "api/checked_key.hpp"
#include "core/resolved_options.hpp"
#include "protocol/keys.hpp"
#include "quorum/slot_set.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace redlock {

namespace {

[[noreturn]] void refuse_semaphore(std::string const& why) { throw std::invalid_argument{"redlock::semaphore: " + why}; }

void check(std::uint32_t permits, lock_options const& options)
{
    if (permits == 0) refuse_semaphore("there are no permits; say how many, as in {.permits = 4}");
    if (permits > quorum::max_slots)
        refuse_semaphore(std::to_string(permits) + " permits are more than " + std::to_string(quorum::max_slots));
    if (!options.fencing) refuse_semaphore("lock_options::fencing is off, but permits need tokens");
    if (options.owner != owner_id{}) refuse_semaphore("lock_options::owner is set, but each acquisition is a permit of its own");
}

// The slots from `first` to `end` of a semaphore that has `permits`.
std::shared_ptr<detail::permit_pool const> pool_of(detail::core const& owner, std::string const& name, std::uint32_t permits,
                                                   std::uint32_t first, std::uint32_t end)
{
    auto const& format = owner.keys();
    std::string const key = detail::checked_key("redlock::semaphore", name, format);
    std::vector<detail::permit_pool::slot> slots;
    for (std::uint32_t i = first; i < end; ++i) {
        auto const slot = name + "#" + std::to_string(i);
        slots.push_back({i, format.key_of(slot), slot});
    }
    return std::make_shared<detail::permit_pool const>(key + std::string{detail::permits_suffix}, permits, std::move(slots));
}

detail::resource permits_of(client const& owner, std::string const& name, semaphore_options const& options)
{
    check(options.permits, options.lock);
    return {pool_of(*detail::access::core_of(owner), name, options.permits, 0, options.permits), 1, name};
}

}  // namespace

semaphore::semaphore(client const& owner, std::string name, semaphore_options const& options)
    : one_{owner, permits_of(owner, name, options), options.lock}
{
}

std::uint32_t semaphore::permits() const noexcept { return one_.what_->pool()->permits; }

lock semaphore::several(std::uint32_t count) const
{
    lock all = one_;
    if (count != 1)
        all.what_ = detail::make_descriptor(detail::resource{one_.what_->shared_pool(), count, std::string{name()}}, one_.what_->under);
    return all;
}

detail::permit_query semaphore::query() const { return {one_.what_->shared_pool(), 0, one_.what_->under}; }

namespace {

constexpr asio::as_tuple_t<asio::use_awaitable_t<>> in_a_tuple{asio::use_awaitable};

asio::awaitable<detail::permits_on_nodes> ask(std::shared_ptr<detail::core> core, std::string_view name, detail::permit_query what)
{
    auto const nodes = what.into = std::make_shared<detail::permits_on_nodes>();
    auto initiation = [core, what = std::move(what)](auto handler) mutable {
        core->ask_permits(std::move(what), detail::permits_handler{std::move(handler), core->get_executor()});
    };
    auto asking = asio::async_initiate<decltype(in_a_tuple), void(error_code, std::size_t)>(std::move(initiation), in_a_tuple);
    error_code ec;
    std::tie(ec, std::ignore) = co_await std::move(asking);
    if (ec) throw operation_error{ec, name};
    co_return std::move(*nodes);
}

// All nodes have to have `done` their part.
void check_all(detail::permits_on_nodes const& nodes, bool detail::permits_on_node::* done, std::string_view name)
{
    auto const count = static_cast<std::size_t>(std::count_if(nodes.each.begin(), nodes.each.end(), std::mem_fn(done)));
    if (count == nodes.each.size()) return;
    throw operation_error{errc::no_majority, name,
                          std::to_string(count) + " of " + std::to_string(nodes.each.size()) +
                              " nodes could be told the number of permits, and all have to know it" +
                              (nodes.first_failure.empty() ? "" : ": " + nodes.first_failure)};
}

asio::awaitable<void> change(std::shared_ptr<detail::core> core, std::string name, std::uint32_t permits, lock_options options)
{
    auto const under = core->resolved_options_of(options);
    auto const wanted = pool_of(*core, name, permits, 0, permits);

    // g++ 12 destroys some temporaries twice inside co_await expressions, so questions have names.
    detail::permit_query const look{wanted, 0, under};
    auto const before = co_await ask(core, name, look);
    std::uint64_t version = 0;
    for (auto const& node : before.each) version = std::max(version, node.version);
    check_all(before, &detail::permits_on_node::answered, name);

    detail::permit_query const keep{wanted, version + 1, under};
    auto const after = co_await ask(core, name, keep);
    for (auto const& node : after.each)
        if (node.answered && !node.kept) throw operation_error{errc::permits_changing, name};
    check_all(after, &detail::permits_on_node::kept, name);
    wanted->saw_version(version + 1);

    // No client gets one of the slots above any more, and this waits for the clients that hold one. They may stem from an earlier change that was given up.
    auto const end = static_cast<std::uint32_t>(quorum::max_slots);
    if (permits == end) co_return;
    auto const above = pool_of(*core, name, permits, permits, end);
    above->saw_version(version + 1);
    detail::resource of{above, end - permits, name};
    lock const rest = detail::access::permits_of(core, std::move(of), options);
    lease last = co_await rest.acquire(asio::use_awaitable);
    co_await last.release(asio::use_awaitable);
}

}  // namespace

// No coroutine itself, since a client cannot be copied, and the caller's may be gone when the coroutine goes on.
asio::awaitable<void> change_permits(client const& owner, std::string name, std::uint32_t permits, lock_options options)
{
    check(permits, options);
    validate(options);
    return change(detail::access::core_of(owner), std::move(name), permits, options);
}

}  // namespace redlock
