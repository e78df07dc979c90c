#include <redlock/acquire_error.hpp>
#include <redlock/detail/throwing.hpp>

#include "api/error_text.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace redlock {

namespace {

// What acquisition::was_not_sent() writes.
constexpr std::string_view not_asked = "not asked: ";

std::string text_of(error_code why, std::string_view lock, attempt_report const& last)
{
    for (node_verdict const& verdict : last.nodes)
        if (why == condition::contended && verdict.detail.starts_with(not_asked))
            return detail::error_text(why, lock, verdict.detail.substr(not_asked.size()));
    bool const code_says_it = why != condition::not_acquired || why == condition::contended || why == errc::client_not_running ||
                              why == errc::self_deadlock;
    return detail::error_text(why, lock, code_says_it ? std::string{} : first_failure(last));
}

}  // namespace

struct acquire_error::facts {
    std::string text;
    attempt_report last;
};

acquire_error::acquire_error(error_code why, std::string_view lock, attempt_report last)
    : system_error{why}, facts_{std::make_shared<facts const>(facts{text_of(why, lock, last), std::move(last)})}
{
}

char const* acquire_error::what() const noexcept { return facts_->text.c_str(); }

attempt_report const& acquire_error::last_attempt() const noexcept { return facts_->last; }

std::exception_ptr detail::to_acquire_error(error_code ec, failure_notes known)
{
    if (!known) known = std::make_unique<failure_note>();
    return std::make_exception_ptr(acquire_error{ec, known->lock, std::move(known->last_attempt)});
}

}  // namespace redlock
