#include <redlock/scope_error.hpp>

#include "api/error_text.hpp"

#include <boost/asio/error.hpp>

#include <string>
#include <utility>

namespace redlock {

namespace {

std::string end_of(std::exception_ptr const& body)
{
    if (!body) return "the body had returned";
    try {
        std::rethrow_exception(body);
    } catch (system_error const& e) {
        if (e.code() == boost::asio::error::operation_aborted) return "the body was cancelled";
        return std::string{"the body threw: "} + e.what();
    } catch (std::exception const& e) {
        return std::string{"the body threw: "} + e.what();
    } catch (...) {
        return "the body threw an exception of another type than std::exception";
    }
}

}  // namespace

struct scope_error::facts {
    std::string text;
    std::exception_ptr body;
};

scope_error::scope_error(error_code why, std::string_view lock, std::exception_ptr body, std::string_view reason)
    : system_error{why},
      facts_{std::make_shared<facts const>(facts{detail::error_text(why, lock, reason) + "; " + end_of(body), std::move(body)})}
{
}

char const* scope_error::what() const noexcept { return facts_->text.c_str(); }

bool scope_error::body_returned() const noexcept { return !facts_->body; }

std::exception_ptr scope_error::body_exception() const noexcept { return facts_->body; }

}  // namespace redlock
