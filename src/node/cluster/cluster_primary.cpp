// One primary of a Redis Cluster: it tells the shards there what becomes of its connections.
#include "node/cluster/cluster_link.hpp"
#include "protocol/server_facts.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace redlock::detail {

cluster_primary::cluster_primary(std::weak_ptr<cluster_link> link, cluster_server const& which, node_address const& address,
                                 config const& settings, asio::any_io_executor const& strand, std::uint16_t shards,
                                 std::shared_ptr<tls_files> files)
    : link_{std::move(link)},
      id_{which.id},
      epoch_{which.epoch},
      replicas_{address.replicas},
      strand_{strand},
      server_{std::make_unique<redis_node>(strand, address, settings, shards, std::move(files))}
{
}

void cluster_primary::start() { server_->start(0, weak_from_this()); }

void cluster_primary::add(cluster_member& who)
{
    members_.push_back(&who);
    if (!up_) return;
    asio::post(strand_, [weak = weak_from_this(), raw = &who] {
        auto const self = weak.lock();
        if (self && self->up_ && std::find(self->members_.begin(), self->members_.end(), raw) != self->members_.end())
            raw->on_primary_up(self);
    });
}

void cluster_primary::remove(cluster_member& who)
{
    std::erase(members_, &who);
    if (std::erase(parting_, &who) > 0 && parting_.empty()) server_->reject(refused_with_, refused_words_);
}

void cluster_primary::close()
{
    if (std::exchange(closing_, true)) return;
    up_ = false;
    server_->stop();
}

void cluster_primary::on_up(std::size_t, std::string const& server, quorum::node_facts const&)
{
    run_id_ = server;
    up_ = true;
    failing_ = false;
    for (cluster_member* const who : std::vector{members_}) who->on_primary_up(shared_from_this());
}

void cluster_primary::on_down(std::size_t, error_code why, std::string const& text)
{
    if (closing_) return;
    auto const self = shared_from_this();
    up_ = false;
    parting_.clear();
    bool const news = !std::exchange(failing_, true);
    auto words = name() + ": " + (text.empty() ? why.message() : text);
    if (text == why_not_a_replica()) words = name() + " is a replica now; the cluster is asked again which server has the slot";
    for (cluster_member* const who : std::vector{members_}) who->on_primary_down(why, words);
    if (auto const link = link_.lock(); link && news) link->primary_failed();
}

// Its shards may have keys of their owners there, who can release them until the connection ends.
bool cluster_primary::on_unfit(std::size_t, error_code why, std::string const& words)
{
    up_ = false;
    refused_with_ = why;
    refused_words_ = words;
    for (cluster_member* const who : std::vector{members_}) {
        auto const named = name() + ": " + words;
        if (who->on_primary_unfit(why, named)) parting_.push_back(who);
        else who->on_primary_down(why, named);
    }
    return !parting_.empty();
}

// Its server_ cannot be destroyed here, since it is the caller.
void cluster_primary::on_stopped(std::size_t)
{
    asio::post(strand_, [self = shared_from_this()] {
        if (auto const link = self->link_.lock()) link->gone(*self);
    });
}

// The others are told nothing of a key that has no prefix of a shard.
void cluster_primary::on_changed(std::size_t, std::string_view key)
{
    bool const any = key.empty();
    auto const shard = take_shard_off(key);
    for (cluster_member* const who : std::vector{members_})
        if (any || shard == who->shard()) who->on_changed(key);
}

void cluster_primary::on_time(std::size_t, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)
{
    for (cluster_member* const who : std::vector{members_}) who->on_time(clock, sent, received);
}

void cluster_primary::on_login(std::size_t, std::string const& why_not)
{
    for (cluster_member* const who : std::vector{members_}) who->on_login(why_not);
}

}  // namespace redlock::detail
