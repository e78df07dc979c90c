#include <redlock/fence_guard.hpp>

namespace redlock {

using detail::fenced_resource;

bool fence::admit(std::uint64_t token)
{
    std::lock_guard const lock{resource_.mutex};
    return resource_.takes(token);
}

bool fence::admit_shared(std::uint64_t token)
{
    std::lock_guard const lock{resource_.mutex};
    return resource_.takes_reader(token);
}

std::uint64_t fence::highest() const
{
    std::lock_guard const lock{resource_.mutex};
    return resource_.highest_of_all();
}

bool fence_guard::admit(std::string_view name, std::uint64_t token)
{
    return static_cast<bool>(enter(name, token, &fenced_resource::takes).lock);
}

bool fence_guard::admit_shared(std::string_view name, std::uint64_t token)
{
    return static_cast<bool>(enter(name, token, &fenced_resource::takes_reader).lock);
}

std::uint64_t fence_guard::highest(std::string_view name) const
{
    auto const resource = find(name);
    if (!resource) return 0;
    std::lock_guard const lock{resource->mutex};
    return resource->forgotten ? 0 : resource->highest_of_all();
}

void fence_guard::forget(std::string_view name)
{
    auto const resource = find(name);
    if (!resource) return;
    std::lock_guard const waited{resource->mutex};
    if (resource->forgotten) return;
    resource->forgotten = true;
    std::lock_guard const lock{mutex_};
    resources_.erase(resources_.find(name));
}

std::size_t fence_guard::size() const
{
    std::lock_guard const lock{mutex_};
    return resources_.size();
}

fence_guard::entry fence_guard::enter(std::string_view name, std::uint64_t token, bool (fenced_resource::*takes)(std::uint64_t) noexcept)
{
    if (token == 0) return {};  // no entry is made for the name
    for (;;) {  // repeated only if `forget()` came between finding the resource and locking it
        entry result;
        {
            std::lock_guard const lock{mutex_};
            auto place = resources_.find(name);
            if (place == resources_.end()) place = resources_.emplace(name, std::make_shared<fenced_resource>()).first;
            result.resource = place->second;
        }
        result.lock = std::unique_lock{result.resource->mutex};
        if (result.resource->forgotten) continue;
        if (!((*result.resource).*takes)(token)) result.lock.unlock();
        return result;
    }
}

std::shared_ptr<fenced_resource> fence_guard::find(std::string_view name) const
{
    std::lock_guard const lock{mutex_};
    auto const place = resources_.find(name);
    return place == resources_.end() ? nullptr : place->second;
}

}  // namespace redlock
