// A caller that waits for the end of something: a lease's loss, an extension, a release, a drain, a client's run.
#ifndef REDLOCK_CORE_LEASE_WAITER_HPP
#define REDLOCK_CORE_LEASE_WAITER_HPP

#include <redlock/detail/completion.hpp>
#include <redlock/error.hpp>

#include <memory>
#include <string_view>
#include <utility>

namespace redlock::detail {

// Kept by pointer, so that a cancellation can find it.
struct waiter {
    explicit waiter(completion<error_code>&& handler) : asks_why{handler.asks_why()}, done{std::move(handler)} {}

    // Completes it. One that throws says why, if that is known.
    void fail(error_code ec, std::string_view why)
    {
        if (asks_why && ec && !why.empty()) done.explain([why](failure_note& note) { note.reason = why; });
        done(ec);
    }

    bool const asks_why;
    completion<error_code> done;

private:
    friend class waiter_list;
    std::shared_ptr<waiter> next_{};
};

// Waiters in the order in which they came; a waiter is in one list at most. The list allocates no memory, since there is mostly one waiter.
class waiter_list {
public:
    waiter_list() = default;
    waiter_list(waiter_list&& other) noexcept : first_{std::move(other.first_)}, last_{std::exchange(other.last_, nullptr)} {}
    waiter_list& operator=(waiter_list&&) = delete;
    ~waiter_list() { clear(); }

    void push_back(std::shared_ptr<waiter> who)
    {
        waiter* const added = who.get();
        (last_ ? last_->next_ : first_) = std::move(who);
        last_ = added;
    }

    // Takes the waiter out and completes it. False: `who` is not in the list.
    bool complete(waiter const* who, error_code ec)
    {
        waiter* before = nullptr;
        for (std::shared_ptr<waiter>* at = &first_; *at; at = &(*at)->next_) {
            if (at->get() != who) {
                before = at->get();
                continue;
            }
            auto const found = std::move(*at);
            *at = std::move(found->next_);
            if (last_ == found.get()) last_ = before;
            found->done(ec);
            return true;
        }
        return false;
    }

    void complete_all(error_code ec, std::string_view why = {})
    {
        for (waiter_list all{std::move(*this)}; all.first_;) all.take_first()->fail(ec, why);
    }

    // Destroys all waiters without completing them.
    void clear() noexcept
    {
        while (first_) static_cast<void>(take_first());
    }

private:
    std::shared_ptr<waiter> take_first() noexcept
    {
        auto taken = std::move(first_);
        first_ = std::move(taken->next_);
        if (!first_) last_ = nullptr;
        return taken;
    }

    std::shared_ptr<waiter> first_;
    waiter* last_{nullptr};
};

}  // namespace redlock::detail

#endif
