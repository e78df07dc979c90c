#include <redlock/detail/throwing.hpp>
#include <redlock/operation_error.hpp>

#include "api/error_text.hpp"

#include <utility>

namespace redlock {

struct operation_error::facts {
    std::string text;
    std::string reason;
};

operation_error::operation_error(error_code why, std::string_view lock, std::string_view reason)
    : system_error{why}, facts_{std::make_shared<facts const>(facts{detail::error_text(why, lock, reason), detail::on_one_line(reason)})}
{
}

char const* operation_error::what() const noexcept { return facts_->text.c_str(); }

std::string const& operation_error::reason() const noexcept { return facts_->reason; }

std::exception_ptr detail::to_operation_error(error_code ec, std::string_view lock, std::string_view reason)
{
    return std::make_exception_ptr(operation_error{ec, lock, reason});
}

}  // namespace redlock
