// What a server says of changed keys, told in the right order. Boost.Redis hands over a push where it stands between the answers, but it completes
// requests later. The watcher of a key must hear the answer to the watch first, so what the server says meanwhile waits for that.
#ifndef REDLOCK_NODE_CONNECTION_CHANGE_NOTICES_HPP
#define REDLOCK_NODE_CONNECTION_CHANGE_NOTICES_HPP

#include "node/connection/push_reader.hpp"

#include <boost/redis/resp3/node.hpp>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::detail {

class change_notices {
public:
    using keys = std::vector<std::string>;  // an empty one: all keys

    // `tell` is called for each changed key.
    explicit change_notices(std::function<void(std::string_view key)> tell) : tell_{std::move(tell)} {}

    // A new connection: what the last one said is dropped.
    void reset()
    {
        pushes_ = {};
        during_ = nullptr;
        outside_.clear();
        later_.clear();
    }

    // The answers to a message have begun to come: what the server says from now on goes to `during`.
    void answers_begin(keys& during) noexcept { during_ = &during; }

    // They have all come. The owner calls tell(during) when it has told the answers.
    void answers_end(keys const& during) noexcept
    {
        if (during_ == &during) during_ = nullptr;
    }

    // One RESP3 node of a push, and the end of pushes.
    void on_push(boost::redis::resp3::node_view const& node)
    {
        if (auto const key = pushes_.on_node(node)) (during_ ? *during_ : outside_).emplace_back(*key);
    }
    void on_pushed() { tell(outside_); }

    void tell(keys& changed)
    {
        if (!changed.empty()) tell_or_keep(changed);
    }

    // Between these two, answers to watches are there that are not told yet: nothing is told before them.
    void hold_back() noexcept { ++held_back_; }
    void go_on()
    {
        if (--held_back_ == 0) tell(later_);
    }

private:
    void tell_or_keep(keys& changed)
    {
        auto const all = std::exchange(changed, {});
        if (held_back_ > 0) return void(later_.insert(later_.end(), all.begin(), all.end()));
        for (std::string const& key : all) tell_(key);
    }

    std::function<void(std::string_view key)> tell_;
    push_reader pushes_;
    keys* during_{nullptr};  // null: no answers are coming
    keys outside_;
    std::size_t held_back_{0};
    keys later_;
};

}  // namespace redlock::detail

#endif
