// What the operations of a client share: one question to all nodes, the moment at which no answer is waited for any longer, and an end that comes once.
//
// An operation is kept alive by its requests in fanout, which outlive its end: late votes are still counted, or rolled back. Those whose callers wait are
// kept in `ongoing` as well, which ends them with the client.
#ifndef REDLOCK_CORE_OPERATION_HPP
#define REDLOCK_CORE_OPERATION_HPP

#include "base/timer_queue.hpp"
#include "core/environment.hpp"
#include "core/fanout.hpp"
#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "quorum/node_set.hpp"

#include <redlock/error.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace redlock::detail {

class lease_record;

// Something that ends once, and has a timer until then.
class ending : public timer {
public:
    bool is_over() const noexcept { return is_over_; }

protected:
    explicit ending(environment& env, std::shared_ptr<lease_record> about = nullptr) noexcept : env_{env}, record_{std::move(about)} {}

    // The services of an io_context that is destroyed take their handlers, and with them what fanout keeps alive, before our own service is
    // told.
    ~ending() { env_.cancel_timer(*this); }

    // False: it is over already.
    bool end() noexcept
    {
        if (std::exchange(is_over_, true)) return false;
        env_.cancel_timer(*this);
        return true;
    }

private:
    bool is_over_{false};

protected:
    environment& env_;
    std::shared_ptr<lease_record> record_;  // that it is about, if any. It keeps the environment alive, so it has to outlive the timer
};

template <class Self>
class operation;

// Its timer calls Self::time_is_up(now), and keeps it alive meanwhile.
template <class Self>
class timed : public ending, public std::enable_shared_from_this<Self> {
    friend Self;
    friend class operation<Self>;

    explicit timed(environment& env, std::shared_ptr<lease_record> about = nullptr) noexcept : ending{env, std::move(about)} {}

    void on_timer(time_point now) final
    {
        auto const self = this->shared_from_this();
        self->time_is_up(now);
    }
};

template <class Self>
class operation : public vote_handler, public timed<Self> {
public:
    // Asks the nodes, except those in `not_at`. time_is_up() comes at `until`, if the operation is not decided before.
    static void ask(std::shared_ptr<Self> const& self, command&& what, time_point until, quorum::node_set const& not_at = {},
                    bool first = false)
    {
        environment& env = self->env_;
        env.set_timer(*self, until);
        env.to_nodes->add({std::move(what), self, not_at, first});
    }

private:
    friend Self;

    explicit operation(environment& env, std::shared_ptr<lease_record> about = nullptr) noexcept : timed<Self>{env, std::move(about)} {}
};

// What waits for the answer of a node that is asked alone: calls `then` with it.
template <class Then>
class answer_of_one final : public vote_handler {
public:
    explicit answer_of_one(Then then) : then_{std::move(then)} {}

    void on_vote(std::size_t, reply const& answer, time_point now) override { then_(answer, now); }
    bool wanted(std::size_t, time_point) const override { return true; }

private:
    Then then_;
};

// Operations whose callers wait. T::abandon() completes one, and removes it here.
template <class T>
class ongoing {
public:
    // Completes all with `why`.
    void fail_all(error_code why)
    {
        while (!all_.empty()) {
            auto const last = all_.back();
            last->abandon(why);
        }
    }

    // The execution context is destroyed: destroys all without completing them.
    void clear() noexcept { auto const gone = std::exchange(all_, {}); }

protected:
    void keep(std::shared_ptr<T> const& what) { all_.push_back(what); }

    // False: it is not here. The caller keeps it alive.
    bool remove(T const& what) noexcept
    {
        return std::erase_if(all_, [&](auto const& each) { return each.get() == &what; }) > 0;
    }
    std::vector<std::shared_ptr<T>> const& all() const noexcept { return all_; }

private:
    std::vector<std::shared_ptr<T>> all_;
};

}  // namespace redlock::detail

#endif
