// The executor of a completion handler, kept until its operation ends. Until then it counts as work of its context.
#ifndef REDLOCK_DETAIL_KEPT_EXECUTOR_HPP
#define REDLOCK_DETAIL_KEPT_EXECUTOR_HPP

#include <redlock/detail/completion_batch.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <optional>
#include <utility>

namespace redlock {

namespace asio = boost::asio;

namespace detail {

// Never runs a function inside the call that passes it, and counts as work.
template <class Executor>
auto posting_with_work(Executor const& of)
{
    return asio::prefer(asio::require(of, asio::execution::blocking.never), asio::execution::outstanding_work.tracked);
}

class kept_executor {
public:
    explicit kept_executor(asio::any_io_executor const& of)
    {
        if (auto const* const plain = of.target<asio::io_context::executor_type>()) {
            plain_.emplace(posting_with_work(*plain));
        } else {
            other_ = posting_with_work(of);
        }
    }

    // Posts the call. Within a completion_batch for this context it goes along with others.
    void post(deferred_call what) const
    {
        if (!plain_) return other_.execute(std::move(what));
        if (auto* const batch = completion_batch::open_for(asio::query(*plain_, asio::execution::context)))
            return batch->add(std::move(what));
        // What is posted counts as work by itself, so that this copy need not.
        auto const posting = asio::prefer(*plain_, asio::execution::outstanding_work.untracked);
        asio::require(posting, asio::execution::allocator(recycling<void>{})).execute(std::move(what));
    }

    friend bool operator==(kept_executor const& a, kept_executor const& b) noexcept
    {
        if (a.plain_ && b.plain_) return *a.plain_ == *b.plain_;
        return !a.plain_ && !b.plain_ && a.other_ == b.other_;
    }

private:
    using plain_executor = decltype(posting_with_work(std::declval<asio::io_context::executor_type const&>()));

    std::optional<plain_executor> plain_;  // most are of an io_context, and without a detour through the erased type they cost half
    asio::any_io_executor other_;  // if there is no plain_
};

}  // namespace detail
}  // namespace redlock

#endif
