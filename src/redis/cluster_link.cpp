#include "redis/cluster_link.hpp"

#include "redis/server_facts.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace redlock::detail {

using namespace std::chrono_literals;

namespace {

// How often the map is read anew while all primaries work. A slot that has moved is noticed at once by the request that uses it.
constexpr auto map_interval = 10s;

// Many members look for a primary at about the same time: they share a map.
constexpr auto refresh_interval = 100ms;

// How many servers are asked one after the other before the members are told that none answers.
constexpr std::size_t max_asked = 8;

}  // namespace

cluster_link::cluster_link(asio::any_io_executor strand, node_address const& cluster, config const& settings)
    : strand_{std::move(strand)}, cluster_{cluster}, settings_{settings}, timer_{strand_}
{
}

cluster_link::~cluster_link() = default;

void cluster_link::look_for_primary(cluster_member& who, lookup how)
{
    if (std::find(members_.begin(), members_.end(), &who) == members_.end()) members_.push_back(&who);
    if (std::find(waiting_.begin(), waiting_.end(), &who) == waiting_.end()) waiting_.push_back(&who);
    if (how.hint) hint_ = how.hint;
    if (!map_ || how.renew) return refresh();
    asio::post(strand_, [weak = weak_from_this()] {
        if (auto const self = weak.lock()) self->place_waiting();
    });
}

void cluster_link::forget(cluster_member& who)
{
    std::erase(waiting_, &who);
    std::erase(members_, &who);
    for (auto const& p : primaries_) p->remove(who);
}

void cluster_link::leave(cluster_member& who)
{
    forget(who);
    if (!members_.empty()) return;
    timer_.cancel();
    confirming_.clear();
    if (auto const asked = std::exchange(question_, nullptr)) asked->stop();
    if (auto const asked = std::exchange(confirmation_, nullptr)) asked->stop();
    for (auto const& p : primaries_) p->close();
}

node_address cluster_link::address_of(std::string const& host, std::uint16_t port) const
{
    node_address address = cluster_;
    address.cluster.reset();
    address.host = host;
    address.port = port;
    address.replicas = replicas_;
    return address;
}

// Certificates are for names, if the servers have some.
node_address cluster_link::address_of(cluster_server const& server) const
{
    return address_of(cluster_.tls && !server.name.empty() ? server.name : server.host, server.port);
}

// A connected server answers soonest, and one that was named in an error knows best.
std::vector<node_address> cluster_link::servers_to_ask() const
{
    std::vector<node_address> all;
    auto const add = [&all](node_address one) {
        auto const same = [&one](node_address const& a) { return a.host == one.host && a.port == one.port; };
        if (all.size() < max_asked && !one.host.empty() && std::none_of(all.begin(), all.end(), same)) all.push_back(std::move(one));
    };
    if (hint_) add(address_of(hint_->host, hint_->port));
    for (std::size_t i = 0; map_ && i < map_->servers.size(); ++i) {
        auto const& s = map_->servers[(i + turn_) % map_->servers.size()];
        auto const is_up = [&s](auto const& p) { return p->id_ == s.id && p->is_up(); };
        if (std::any_of(primaries_.begin(), primaries_.end(), is_up)) add(address_of(s));
    }
    auto const& seeds = cluster_.cluster->addresses;
    for (std::size_t i = 0; i < seeds.size(); ++i) {
        auto const& seed = seeds[(i + turn_) % seeds.size()];
        add(address_of(seed.host, seed.port));
    }
    for (std::size_t i = 0; map_ && i < map_->servers.size(); ++i) add(address_of(map_->servers[(i + turn_) % map_->servers.size()]));
    return all;
}

void cluster_link::refresh()
{
    if (question_ || members_.empty()) return;
    auto const now = std::chrono::steady_clock::now();
    if (now < asked_ + refresh_interval) return refresh_after(asked_ + refresh_interval - now);
    asked_ = now;
    timer_.cancel();
    to_ask_ = servers_to_ask();
    std::reverse(to_ask_.begin(), to_ask_.end());
    hint_.reset();
    ++turn_;
    problems_.clear();
    problem_ = {};
    ask_next();
}

void cluster_link::ask_next()
{
    if (to_ask_.empty()) {
        question_.reset();
        fail_waiting(problem_, "no server of the cluster can say which server has which slot (" + problems_ + ')');
        return check_later();
    }
    auto const server = std::move(to_ask_.back());
    to_ask_.pop_back();
    question_ = std::make_shared<cluster_question>(strand_, server, settings_, std::nullopt);
    question_->ask([weak = weak_from_this()](cluster_answer answer) {
        if (auto const self = weak.lock(); self && self->question_) self->answered(std::move(answer));
    });
}

void cluster_link::answered(cluster_answer answer)
{
    if (!answer.why && answer.map.is_cut_off()) {
        answer.why = errc::node_unreachable;
        answer.words = "it cannot reach most primaries of the cluster";
    }
    if (answer.why) {
        problems_ += (problems_.empty() ? "" : "; ") + question_->server() + ": " + answer.words;
        // What is wrong with the configuration says more than that a server is down.
        if (!problem_ || answer.why == errc::node_unsuitable) problem_ = answer.why;
        return ask_next();
    }
    question_.reset();
    map_ = std::move(answer.map);
    replicas_ = cluster_.replicas > 0 ? cluster_.replicas : map_->acknowledgements();
    leave_superseded();
    place_waiting();
    check_later();
}

void cluster_link::fail_waiting(error_code why, std::string const& words)
{
    for (cluster_member* const who : std::exchange(waiting_, {})) who->on_primary_down(why, words);
}

void cluster_link::check_later()
{
    if (members_.empty() || question_) return;
    refresh_after(waiting_.empty() ? std::chrono::steady_clock::duration{map_interval} : refresh_interval);
}

void cluster_link::refresh_after(std::chrono::steady_clock::duration time)
{
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) self->refresh();
    });
}

// A server that knows less than others must not make us leave, so only a newer claim to the slot does.
void cluster_link::leave_superseded()
{
    for (auto const& p : std::vector{primaries_}) {
        for (cluster_member* const who : std::vector{p->members_}) {
            auto const* const owner = map_->owner_of(slot_of_shard(who->shard()));
            if (!owner || owner->id == p->id_ || owner->epoch <= p->epoch_) continue;
            p->remove(*who);
            who->on_primary_down(errc::node_unreachable, "the slot of this shard is on " + address_of(*owner).to_string() + " now");
        }
        if (p->closing_) continue;
        if (p->members_.empty()) p->close();
        else if (p->replicas_ < replicas_)
            p->leave("the groups of this cluster are larger now, and votes wait for " + std::to_string(replicas_) + " replicas");
    }
}

void cluster_link::place_waiting()
{
    if (!map_) return;
    for (cluster_member* const who : std::exchange(waiting_, {})) place(*who);
}

void cluster_link::place(cluster_member& who)
{
    auto const slot = slot_of_shard(who.shard());
    auto const* const owner = map_->owner_of(slot);
    if (!owner)
        return who.on_primary_down(errc::node_unsuitable, "no server of the cluster has the slot " + std::to_string(slot) +
                                                              " of this shard, " + std::to_string(map_->covered()) + " of " +
                                                              std::to_string(cluster_slots) +
                                                              " slots are covered; redis-cli --cluster fix host:port assigns the others");
    if (auto const problem = problem_with_replicas(); !problem.empty()) return who.on_primary_down(errc::node_unsuitable, problem);
    auto const primary = primary_at(*owner);
    if (primary->closing_) waiting_.push_back(&who);  // gone() comes back to it
    else primary->add(who);
}

std::string cluster_link::problem_with_replicas() const
{
    auto const least = map_->acknowledgements();
    if (least == 0)
        return "no primary of the cluster has a replica, so that nothing but a restart follows its failure, and a replica that came later "
               "could be "
               "promoted without the locks; give each primary one (redis-cli --cluster add-node NEW host:port --cluster-slave)";
    if (replicas_ >= least) return {};
    return "votes are to wait for " + std::to_string(replicas_) +
           " replicas, which is less than a majority of a group of this cluster; write replicas=" + std::to_string(least) +
           ", or leave it out";
}

std::shared_ptr<cluster_primary> cluster_link::primary_at(cluster_server const& server)
{
    auto const address = address_of(server);
    for (auto const& p : primaries_) {
        if (p->name() != address.to_string()) continue;
        if (!p->closing_ && p->id_ == server.id) p->epoch_ = std::max(p->epoch_, server.epoch);
        return p;
    }
    auto const p = std::make_shared<cluster_primary>(weak_from_this(), server, address, settings_, strand_, cluster_.cluster->shards);
    primaries_.push_back(p);
    p->start();
    return p;
}

void cluster_link::gone(cluster_primary const& which)
{
    std::erase_if(primaries_, [&which](auto const& p) { return p.get() == &which; });
    place_waiting();
}

void cluster_link::confirm_shards(confirmation_handler done)
{
    confirming_.push_back(std::move(done));
    if (confirmation_) return;
    auto const* const owner = map_ ? map_->owner_of(slot_of_tag(cluster_shards_tag)) : nullptr;
    if (confirmed_ || !owner) {
        asio::post(strand_, [weak = weak_from_this(), confirmed = confirmed_] {
            auto const self = weak.lock();
            if (!self || self->confirmation_) return;
            confirmed ? self->tell_confirmed({}, {})
                      : self->tell_confirmed(errc::node_unsuitable, "no server has the slot of " + std::string{cluster_shards_key});
        });
        return;
    }
    shards_to_keep const keep{cluster_.cluster->shards, replicas_};
    confirmation_ = std::make_shared<cluster_question>(strand_, address_of(*owner), settings_, keep);
    confirmation_->ask([weak = weak_from_this()](cluster_answer const& answer) {
        if (auto const self = weak.lock(); self && self->confirmation_) self->confirmed(answer);
    });
}

void cluster_link::confirmed(cluster_answer const& answer)
{
    confirmation_.reset();
    auto const ours = std::to_string(cluster_.cluster->shards);
    std::string const what = "the number of shards cannot be read from the cluster: ";
    if (answer.why) return tell_confirmed(answer.why, what + answer.words);
    if (!answer.shards_error.empty()) return tell_confirmed(errc::server_error, what + explained(answer.shards_error));
    if (answer.shards_kept != ours)
        return tell_confirmed(errc::node_unsuitable, "the clients of this cluster have " + answer.shards_kept +
                                                         " shards, and this client has " + ours + ": use shards=" + answer.shards_kept +
                                                         " in every client");
    confirmed_ = true;
    tell_confirmed({}, {});
}

void cluster_link::tell_confirmed(error_code why_not, std::string const& words)
{
    for (auto const& done : std::exchange(confirming_, {})) done(why_not, words);
}

cluster_primary::cluster_primary(std::weak_ptr<cluster_link> link, cluster_server const& which, node_address const& address,
                                 config const& settings, asio::any_io_executor const& strand, std::uint16_t shards)
    : link_{std::move(link)},
      id_{which.id},
      epoch_{which.epoch},
      replicas_{address.replicas},
      strand_{strand},
      server_{std::make_unique<redis_node>(strand, address, settings, shards)}
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

void cluster_primary::remove(cluster_member& who) { std::erase(members_, &who); }

void cluster_primary::close()
{
    if (std::exchange(closing_, true)) return;
    up_ = false;
    server_->stop();
}

void cluster_primary::leave(std::string words)
{
    if (up_) server_->reject(errc::node_unsuitable, std::move(words));
}

void cluster_primary::on_up(std::size_t, std::string const& server, quorum::node_facts const&)
{
    run_id_ = server;
    up_ = true;
    for (cluster_member* const who : std::vector{members_}) who->on_primary_up(shared_from_this());
}

void cluster_primary::on_down(std::size_t, error_code why, std::string const& text)
{
    auto const self = shared_from_this();
    close();
    auto words = name() + ": " + (text.empty() ? why.message() : text);
    if (text == why_not_a_replica()) words = name() + " is a replica now; the cluster is asked again which server has the slot";
    for (cluster_member* const who : std::exchange(members_, {})) who->on_primary_down(why, words);
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
