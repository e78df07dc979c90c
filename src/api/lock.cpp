#include <redlock/detail/access.hpp>
#include <redlock/lock.hpp>

#include "api/bounds.hpp"
#include "api/checked_key.hpp"
#include "core/resolved_options.hpp"
#include "protocol/key_format.hpp"

#include <algorithm>
#include <stdexcept>

namespace redlock {

namespace {

constexpr std::size_t max_names = 64;

[[noreturn]] void refuse(std::string const& why) { throw std::invalid_argument{"redlock::lock: " + why}; }

std::string key_of(std::string name, detail::key_format const& format)
{
    return detail::checked_key("redlock::lock", std::move(name), format);
}

detail::resource one(std::string name, detail::key_format const& format)
{
    if (format.raw()) return detail::resource{key_of(std::move(name), format)};
    return {{key_of(name, format)}, name};
}

// Every client sees several keys in the same order, and none twice.
detail::resource several(std::vector<std::string> names, detail::key_format const& format)
{
    if (names.empty()) refuse("there are no names");
    if (names.size() > max_names) refuse(std::to_string(names.size()) + " names are more than " + std::to_string(max_names));
    if (names.size() == 1) return one(std::move(names.front()), format);
    std::sort(names.begin(), names.end());
    if (auto const twin = std::adjacent_find(names.begin(), names.end()); twin != names.end())
        refuse("the name \"" + *twin + "\" stands there twice");
    std::string text;
    for (std::string& name : names) {
        if (!text.empty()) text += ", ";
        text += name;
        name = key_of(std::move(name), format);
    }
    std::sort(names.begin(), names.end());  // what stands behind the names can change their order
    return {names, std::move(text)};
}

}  // namespace

detail::resource lock::one_name(client const& owner, std::string name)
{
    return one(std::move(name), detail::access::core_of(owner)->keys());
}

lock::lock(client const& owner, lock_names names, lock_options const& options)
    : lock{owner, several(names.all(), detail::access::core_of(owner)->keys()), options}
{
}

lock::lock(client const& owner, detail::resource what, lock_options const& options)
    : lock{detail::access::core_of(owner), std::move(what), options}
{
}

lock::lock(std::shared_ptr<detail::core> owner, detail::resource what, lock_options const& options) : core_{std::move(owner)}
{
    validate(options);
    if (auto shard = core_->shard_of(what)) core_ = std::move(shard);
    if (auto const most = core_->max_ttl(); options.fencing && options.ttl + options.lock_delay > most)
        throw std::invalid_argument{
            "lock_options::ttl is " + bounds::to_text(options.ttl) +
            (options.lock_delay > options.lock_delay.zero() ? ", and lock_delay " + bounds::to_text(options.lock_delay) : "") +
            "; with fencing it must not be above config::max_ttl, which is " + bounds::to_text(most)};
    what_ = detail::make_descriptor(std::move(what), core_->resolved_options_of(options));
}

std::string_view lock::name() const noexcept { return what_->text(); }

lock_options const& lock::options() const noexcept { return what_->under->options; }

std::vector<std::string> lock::names() const
{
    auto const& format = core_->keys();
    std::vector<std::string> all{format.name_of(std::string{what_->first()})};
    for (std::string const& key : what_->others()) all.push_back(format.name_of(key));
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace redlock
