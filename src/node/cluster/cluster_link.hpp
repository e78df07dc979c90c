// A client's view of one Redis Cluster, which the nodes of all shards share: the map of slots, and one redis_node for each primary that has a shard. So
// a client has one connection for each primary, and one more that waits for replicas, whatever the number of shards.
#ifndef REDLOCK_NODE_CLUSTER_CLUSTER_LINK_HPP
#define REDLOCK_NODE_CLUSTER_CLUSTER_LINK_HPP

#include "node/cluster/cluster_map.hpp"
#include "node/cluster/cluster_question.hpp"
#include "node/connection/reconnect_pause.hpp"
#include "node/redis_node.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

class cluster_primary;

// What a link tells the node of a shard, from look_for_primary on.
class cluster_member {
public:
    virtual std::size_t shard() const noexcept = 0;

    virtual void on_primary_up(std::shared_ptr<cluster_primary> const& where) = 0;

    // It cannot be used, or not any more, or there is none. The link goes on looking, and says when one is up.
    virtual void on_primary_down(error_code why, std::string const& words) = 0;

    // It cannot be used any more. Whether the member turns away from it when its owner has sent what it has to; if not, it is down for the member.
    virtual bool on_primary_unfit(error_code why, std::string const& words) = 0;

    virtual void on_changed(std::string_view key) = 0;
    virtual void on_time(quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) = 0;
    virtual void on_login(std::string const& why_not) = 0;

protected:
    ~cluster_member() = default;
};

class cluster_link final : public std::enable_shared_from_this<cluster_link> {
public:
    // `cluster` has `cluster`.
    cluster_link(asio::any_io_executor strand, node_address const& cluster, config const& settings);
    ~cluster_link();

    node_address const& address() const noexcept { return cluster_; }

    struct lookup {
        bool renew;  // the map is read anew first
        std::optional<host_port> hint{};  // a server that may know more than the others
    };

    // The member is told of the primary of its slot as soon as that is connected, and of each loss of it; not within this call.
    void look_for_primary(cluster_member& who, lookup how);

    // The member was told of a primary that is up, and cannot use it: it is told nothing more of it, and may look for one again.
    void turn_away(cluster_member& who);

    // The member is told nothing any more. When the last one has left, all connections end.
    void leave(cluster_member& who);

    // The same for a member that is being destroyed: nothing ends.
    void forget(cluster_member& who);

    // Whether the cluster keeps this client's number of shards, and keep it there if there is none: for a shard whose record does not say it. The handler
    // gets an empty text, or why it is not so, unless the last member leaves first.
    using confirmation_handler = std::function<void(error_code why_not, std::string const& words)>;
    void confirm_shards(confirmation_handler done);

private:
    friend class cluster_primary;

    void refresh();
    void ask_next();
    void answered(cluster_answer answer);
    void leave_superseded();
    void leave_small_groups();
    bool belongs_on(cluster_primary const& p, cluster_member const& who) const;
    void move_away(cluster_primary& from, cluster_member& who, error_code why, std::string const& words);
    bool all_is_well() const;
    void primary_failed();
    void place_waiting();
    void place(cluster_member& who);
    void fail_waiting(error_code why, std::string const& words);
    void check_later();
    void refresh_after(std::chrono::steady_clock::duration time);
    void confirmed(cluster_answer const& answer);
    void keep_why_not_confirmed(error_code why_not, std::string words);
    void tell_confirmed();
    std::string problem_with_replicas() const;
    std::vector<node_address> servers_to_ask() const;
    node_address address_of(std::string const& host, std::uint16_t port) const;
    node_address address_of(cluster_server const& server) const;
    std::shared_ptr<cluster_primary> primary_at(cluster_server const& server);
    cluster_primary* open_primary(node_address const& at) const;
    void gone(cluster_primary const& which);

    asio::any_io_executor strand_;
    node_address cluster_;
    config settings_;
    std::shared_ptr<tls_files> files_;  // which all servers have
    asio::steady_timer timer_;  // until the map is read again
    reconnect_pause pause_;  // between two readings while something is wrong
    std::optional<cluster_map> map_;
    std::uint16_t replicas_{0};  // K
    std::vector<cluster_member*> members_;
    std::vector<cluster_member*> waiting_;  // those that have no primary, not even one that is down
    std::vector<std::shared_ptr<cluster_primary>> primaries_;
    std::shared_ptr<cluster_question> question_;  // none: nobody is asked
    std::vector<node_address> to_ask_;  // the others, if that one cannot answer; the last one first
    std::string problems_;  // of those that could not
    error_code problem_;
    std::chrono::steady_clock::time_point asked_{};  // for the map, the last time
    std::size_t turn_{0};  // who is asked first
    std::optional<host_port> hint_;
    std::shared_ptr<cluster_question> confirmation_;  // none: nobody is asked for the number of shards
    std::vector<confirmation_handler> confirming_;
    bool confirmed_{false};
    error_code not_confirmed_;  // why it was not, the last time
    std::string not_confirmed_words_;
    reconnect_pause confirmation_pause_;
    std::chrono::steady_clock::time_point confirm_again_{};
};

// One primary and the shards that it has. While it is down it is connected again and again, with pauses that grow, until the map says that its shards are
// elsewhere.
class cluster_primary final : public node_listener, public std::enable_shared_from_this<cluster_primary> {
public:
    cluster_primary(std::weak_ptr<cluster_link> link, cluster_server const& which, node_address const& address, config const& settings,
                    asio::any_io_executor const& strand, std::uint16_t shards, std::shared_ptr<tls_files> files);

    void start();
    void add(cluster_member& who);
    void remove(cluster_member& who);

    // For the requests of its shards. Precondition: is_up(), or a member has not turned away yet since it is unfit.
    redis_node& server() noexcept { return *server_; }
    bool is_up() const noexcept { return up_; }
    std::string const& name() const noexcept { return server_->name(); }
    std::string const& run_id() const noexcept { return run_id_; }

    void on_up(std::size_t, std::string const& server, quorum::node_facts const& facts) override;
    void on_down(std::size_t, error_code why, std::string const& text) override;
    void on_stopped(std::size_t) override;
    bool on_unfit(std::size_t, error_code why, std::string const& words) override;
    void on_changed(std::size_t, std::string_view key) override;
    void on_time(std::size_t, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override;
    void on_login(std::size_t, std::string const& why_not) override;

private:
    friend class cluster_link;

    void close();

    std::weak_ptr<cluster_link> link_;
    std::string id_;  // in the map
    std::uint64_t epoch_;
    std::uint16_t replicas_;
    asio::any_io_executor strand_;
    std::unique_ptr<redis_node> server_;
    std::vector<cluster_member*> members_;
    std::vector<cluster_member*> parting_;  // those that have to turn away before it is refused
    error_code refused_with_;
    std::string refused_words_;
    std::string run_id_;
    bool up_{false};
    bool failing_{false};  // the last attempt to connect has failed, or the connection was lost
    bool closing_{false};
};

}  // namespace redlock::detail

#endif
