#include <redlock/client.hpp>

namespace redlock {

client& client::operator=(client&& other) noexcept
{
    if (this != &other) {
        if (core_) core_->cancel();
        core_ = std::move(other.core_);
    }
    return *this;
}

client::~client()
{
    if (core_) core_->cancel();
}

}  // namespace redlock
