#include <redlock/acquire_error.hpp>

#include <string>
#include <utility>

namespace redlock {

namespace {

std::string text_of(error_code why, std::string_view lock, attempt_report const& last)
{
    std::string text = std::string{lock} + ": " + why.message();
    if (why == condition::contended || why == errc::client_not_running || why == errc::self_deadlock) return text;
    if (auto const reason = first_failure(last); !reason.empty()) text += "; " + reason;
    return text;
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

}  // namespace redlock
