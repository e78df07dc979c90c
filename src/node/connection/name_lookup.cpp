#include "node/connection/name_lookup.hpp"

#include <boost/asio/append.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution/context.hpp>
#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>

#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace redlock::detail {

using steady = std::chrono::steady_clock;

// The executor and the handler are destroyed before their context is.
struct lookup_waiter {
    asio::execution_context* context{nullptr};
    asio::any_io_executor executor;  // keeps run() going
    lookup_handler handler;  // none: it was called, or is not needed any more
};

namespace {

struct lookup_result {
    error_code why_not;
    ip_addresses found;
};

struct lookup {
    std::vector<std::shared_ptr<lookup_waiter>> waiters;
    bool running{true};
    lookup_result late;  // once it does not run any more, until somebody asks
    steady::time_point ended{};
};

struct lookup_table {
    std::mutex mutex;  // held while a handler is posted, so that the context cannot be destroyed meanwhile
    std::map<std::string, lookup> lookups;
    std::deque<std::string> queue;  // of those that wait for a thread
    std::size_t threads{0};
};

// Never destroyed: threads may use it after main() has ended.
lookup_table& table()
{
    static lookup_table& one = *new lookup_table;
    return one;
}

// Precondition: the table is locked, and the context of the waiter lives.
void complete(lookup_waiter& waiter, error_code why_not, ip_addresses const& found)
{
    if (!waiter.handler) return;
    auto const executor = std::exchange(waiter.executor, {});
    asio::post(executor, asio::append(std::exchange(waiter.handler, {}), why_not, found));
}

void forget(lookup_waiter const& waiter)
{
    for (auto& [name, each] : table().lookups) std::erase_if(each.waiters, [&](auto const& w) { return w.get() == &waiter; });
}

// Takes away what waits in a context that is being destroyed.
class lookups_of_context final : public asio::execution_context::service {
public:
    static asio::execution_context::id id;

    explicit lookups_of_context(asio::execution_context& of) : service{of} {}

private:
    void shutdown() override
    {
        std::vector<std::shared_ptr<lookup_waiter>> gone;  // destroyed without the lock, since destructors of handlers may do anything
        std::lock_guard const guard{table().mutex};
        for (auto& [name, each] : table().lookups)
            std::erase_if(each.waiters, [&](auto const& w) {
                if (w->context != &context()) return false;
                gone.push_back(w);
                return true;
            });
    }
};

asio::execution_context::id lookups_of_context::id;

error_code error_of(int code, int system_error)
{
    switch (code) {
    case 0: return {};
    case EAI_AGAIN: return asio::error::host_not_found_try_again;
    case EAI_FAIL: return asio::error::no_recovery;
    case EAI_MEMORY: return asio::error::no_memory;
    case EAI_SYSTEM: return {system_error, boost::system::system_category()};
    default: return asio::error::host_not_found;
    }
}

asio::ip::address address_in(addrinfo const& info)
{
    if (info.ai_family == AF_INET) {
        sockaddr_in v4;
        std::memcpy(&v4, info.ai_addr, sizeof v4);
        return asio::ip::address_v4{ntohl(v4.sin_addr.s_addr)};
    }
    sockaddr_in6 v6;
    std::memcpy(&v6, info.ai_addr, sizeof v6);
    asio::ip::address_v6::bytes_type bytes;
    std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
    return asio::ip::address_v6{bytes, v6.sin6_scope_id};
}

lookup_result ask_the_system(std::string const& host)
{
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_protocol = IPPROTO_TCP;
    addrinfo* all = nullptr;
    int const code = ::getaddrinfo(host.c_str(), nullptr, &hints, &all);
    lookup_result result{error_of(code, errno), {}};
    if (result.why_not) return result;
    for (addrinfo const* each = all; each; each = each->ai_next) {
        if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
        auto const address = address_in(*each);
        if (std::find(result.found.begin(), result.found.end(), address) == result.found.end()) result.found.push_back(address);
    }
    ::freeaddrinfo(all);
    if (result.found.empty()) result.why_not = asio::error::host_not_found;
    return result;
}

// Precondition: the table is locked.
void end_lookup(std::string const& host, lookup_result result)
{
    auto const at = table().lookups.find(host);
    bool claimed = false;
    for (auto const& waiter : std::exchange(at->second.waiters, {})) {
        claimed = claimed || waiter->handler;
        complete(*waiter, result.why_not, result.found);
    }
    if (claimed) return void(table().lookups.erase(at));
    at->second.running = false;
    at->second.late = std::move(result);
    at->second.ended = steady::now();
}

void work_through_queue()
{
    std::unique_lock guard{table().mutex};
    while (!table().queue.empty()) {
        std::string const host = std::move(table().queue.front());
        table().queue.pop_front();
        if (table().lookups[host].waiters.empty()) {
            table().lookups.erase(host);
            continue;
        }
        guard.unlock();
        auto result = ask_the_system(host);
        guard.lock();
        end_lookup(host, std::move(result));
    }
    --table().threads;
}

// Signals are for the program's own threads.
class signals_blocked {
public:
    signals_blocked()
    {
        sigset_t all;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_BLOCK, &all, &before_);
    }
    signals_blocked(signals_blocked const&) = delete;
    signals_blocked& operator=(signals_blocked const&) = delete;
    ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t before_;
};

// Precondition: the table is locked.
void begin_lookup(std::string const& host)
{
    table().queue.push_back(host);
    if (table().threads == max_lookups) return;
    try {
        signals_blocked const meanwhile;
        std::thread{work_through_queue}.detach();
        ++table().threads;
    } catch (std::system_error const& error) {
        if (table().threads > 0) return;  // one of them takes it
        table().queue.pop_back();
        end_lookup(host, {error_code{error.code().value(), boost::system::system_category()}, {}});
    }
}

// Late answers that nobody asked for. Precondition: the table is locked.
void drop_old_answers()
{
    auto const now = steady::now();
    std::erase_if(table().lookups,
                  [now](auto const& each) { return !each.second.running && now - each.second.ended > late_answer_lifetime; });
}

// Precondition: the table is locked.
void join_lookup(std::string const& host, std::shared_ptr<lookup_waiter> const& waiter)
{
    drop_old_answers();
    auto const [at, is_new] = table().lookups.try_emplace(host);
    if (!at->second.running) {
        complete(*waiter, at->second.late.why_not, at->second.late.found);
        return void(table().lookups.erase(at));
    }
    at->second.waiters.push_back(waiter);
    if (is_new) begin_lookup(host);
}

}  // namespace

std::weak_ptr<lookup_waiter> look_up(asio::any_io_executor const& executor, std::string const& host, lookup_handler handler)
{
    error_code not_numeric;
    auto const numeric = asio::ip::make_address(host, not_numeric);
    if (!not_numeric) {
        asio::post(executor, asio::append(std::move(handler), error_code{}, ip_addresses{numeric}));
        return {};
    }
    auto& context = asio::query(executor, asio::execution::context);
    asio::use_service<lookups_of_context>(context);
    auto const waiter = std::make_shared<lookup_waiter>();
    waiter->context = &context;
    waiter->executor = asio::prefer(executor, asio::execution::outstanding_work.tracked);
    auto slot = asio::get_associated_cancellation_slot(handler);
    if (slot.is_connected()) slot.assign([weak = std::weak_ptr{waiter}](asio::cancellation_type_t) { give_up(weak); });
    waiter->handler = std::move(handler);
    std::lock_guard const guard{table().mutex};
    join_lookup(host, waiter);
    return waiter;
}

void give_up(std::weak_ptr<lookup_waiter> const& weak)
{
    auto const waiter = weak.lock();
    if (!waiter) return;
    std::lock_guard const guard{table().mutex};
    forget(*waiter);
    complete(*waiter, asio::error::operation_aborted, {});
}

}  // namespace redlock::detail
