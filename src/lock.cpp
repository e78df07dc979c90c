#include <redlock/lock.hpp>

#include "bounds.hpp"
#include "core/terms.hpp"
#include "node/keys.hpp"

#include <algorithm>
#include <stdexcept>

namespace redlock {

namespace {

constexpr std::size_t names_max = 64;

[[noreturn]] void refuse(std::string const& why) { throw std::invalid_argument{"redlock::lock: " + why}; }

void check(std::string const& name)
{
    if (name.empty()) refuse("the name is empty");
    if (name.ends_with(detail::fence_suffix) || name == detail::node_record_key || name == detail::high_water_key)
        refuse("the name is \"" + name + "\", which is a key that this library keeps for itself");
}

detail::resource one(std::string name)
{
    check(name);
    return detail::resource{std::move(name)};
}

// Every client sees several names in the same order, and none twice.
detail::resource several(std::vector<std::string> names)
{
    if (names.empty()) refuse("there are no names");
    if (names.size() > names_max) refuse(std::to_string(names.size()) + " names are more than " + std::to_string(names_max));
    std::sort(names.begin(), names.end());
    if (auto const twin = std::adjacent_find(names.begin(), names.end()); twin != names.end())
        refuse("the name \"" + *twin + "\" stands there twice");
    for (std::string const& name : names) check(name);
    return detail::resource{names};
}

}  // namespace

lock::lock(client const& owner, std::string name, lock_options const& options) : lock{owner, one(std::move(name)), options} {}

lock::lock(client const& owner, std::vector<std::string> names, lock_options const& options)
    : lock{owner, several(std::move(names)), options}
{
}

lock::lock(client const& owner, std::initializer_list<std::string_view> names, lock_options const& options)
    : lock{owner, std::vector<std::string>(names.begin(), names.end()), options}
{
}

lock::lock(client const& owner, detail::resource what, lock_options const& options) : core_{owner.core_}
{
    validate(options);
    if (auto const most = core_->max_ttl(); options.fencing && options.ttl + options.grace > most)
        throw std::invalid_argument{"lock_options::ttl is " + bounds::to_text(options.ttl) +
                                    (options.grace > options.grace.zero() ? ", and grace " + bounds::to_text(options.grace) : "") +
                                    "; with fencing it must not be above config::max_ttl, which is " + bounds::to_text(most)};
    what_ = std::make_shared<detail::subject const>(std::move(what), core_->terms_of(options));
}

std::string const& lock::name() const noexcept { return what_->text(); }

lock_options const& lock::options() const noexcept { return what_->under->options; }

std::vector<std::string> lock::names() const
{
    std::vector<std::string> all{what_->first()};
    all.insert(all.end(), what_->others().begin(), what_->others().end());
    return all;
}

}  // namespace redlock
