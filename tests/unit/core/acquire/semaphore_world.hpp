// The fixture of stories about semaphores: a semaphore "s" of several clients.
#ifndef REDLOCK_TESTS_UNIT_ACQUIRE_SEMAPHORE_WORLD_HPP
#define REDLOCK_TESTS_UNIT_ACQUIRE_SEMAPHORE_WORLD_HPP

#include "support/shared_world.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>

#include <exception>

namespace redlock::testing {

struct semaphore_world : shared_world {
    using shared_world::shared_world;

    static semaphore_options of(std::uint32_t permits) { return {.permits = permits, .lock = {.ttl = 10s}}; }

    call& ask(redlock::client& by, semaphore_options const& options, std::uint32_t count = 1, bool once = false)
    {
        return ask_with([&](call& a, auto handler) {
            semaphore const s{by, "s", options};
            if (count == 1) once ? s.try_acquire(a.report, std::move(handler)) : s.acquire(a.report, std::move(handler));
            else once ? s.try_acquire(count, a.report, std::move(handler)) : s.acquire(count, a.report, std::move(handler));
        });
    }
    call& get(redlock::client& by, semaphore_options const& options, std::uint32_t count = 1)
    {
        return granted_soon(ask(by, options, count));
    }
    call& try_once(redlock::client& by, semaphore_options const& options, std::uint32_t count = 1)
    {
        return answered_soon(ask(by, options, count, true));
    }

    // Starts a coroutine; what it threw is there when `done`.
    struct story {
        bool done{false};
        error_code ec;
        std::string text;
    };
    std::shared_ptr<story> start(asio::awaitable<void> what, asio::cancellation_slot slot = {})
    {
        auto const s = std::make_shared<story>();
        asio::co_spawn(*context, std::move(what), asio::bind_cancellation_slot(slot, [s](std::exception_ptr e) {
            s->done = true;
            try {
                if (e) std::rethrow_exception(e);
            } catch (system_error const& problem) {
                s->ec = problem.code();
                s->text = problem.what();
            }
        }));
        settle();
        return s;
    }

    std::string record(std::size_t server) { return servers[server]->get("s:permits").value_or("none"); }
};

}  // namespace redlock::testing

#endif
