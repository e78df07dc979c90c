#include "node/cluster/cluster_link.hpp"

#include "node/connection/tls.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace redlock::detail {

using namespace std::chrono_literals;

namespace {

// How often the map is read anew while all primaries work. A slot that has moved is noticed at once by the request that uses it.
constexpr auto map_interval = 10s;

// Many members look for a primary at about the same time: they share a map. No question is asked sooner after the one before.
constexpr auto refresh_interval = 100ms;

// How many servers are asked one after the other before the members are told that none answers.
constexpr std::size_t max_asked = 8;

}  // namespace

cluster_link::cluster_link(asio::any_io_executor strand, node_address const& cluster, config const& settings)
    : strand_{std::move(strand)},
      cluster_{cluster},
      settings_{settings},
      files_{std::make_shared<tls_files>()},
      timer_{strand_},
      pause_{settings},
      confirmation_pause_{settings}
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

void cluster_link::turn_away(cluster_member& who)
{
    std::erase(waiting_, &who);
    for (auto const& p : primaries_) p->remove(who);
}

void cluster_link::forget(cluster_member& who)
{
    turn_away(who);
    std::erase(members_, &who);
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
        auto const address = address_of(map_->servers[(i + turn_) % map_->servers.size()]);
        if (open_primary(address)) add(address);
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
    question_ = std::make_shared<cluster_question>(strand_, server, settings_, std::nullopt, files_);
    auto heard = [weak = weak_from_this(), from = question_.get()](cluster_answer answer) {
        if (auto const self = weak.lock(); self && self->question_.get() == from) self->answered(std::move(answer));
    };
    if (auto* const open = open_primary(server)) question_->ask_over(open->server(), std::move(heard));
    else question_->ask(std::move(heard));
}

// Which may answer without a connection of its own.
cluster_primary* cluster_link::open_primary(node_address const& at) const
{
    auto const is_open = [name = at.to_string()](auto const& p) { return p->is_up() && p->name() == name; };
    auto const found = std::find_if(primaries_.begin(), primaries_.end(), is_open);
    return found == primaries_.end() ? nullptr : found->get();
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
    for (cluster_member* const who : std::vector{waiting_}) who->on_primary_down(why, words);
}

bool cluster_link::all_is_well() const
{
    auto const fails = [](auto const& p) { return p->failing_ && !p->members_.empty(); };
    return waiting_.empty() && std::none_of(primaries_.begin(), primaries_.end(), fails);
}

void cluster_link::check_later()
{
    if (members_.empty() || question_) return;
    bool const well = all_is_well();
    if (well) pause_.reset();
    refresh_after(well ? std::chrono::steady_clock::duration{map_interval} : pause_.next());
}

// There may be another one already. If not, the map is read again with pauses that grow, however often that one is connected.
void cluster_link::primary_failed()
{
    if (!members_.empty()) refresh();
}

void cluster_link::refresh_after(std::chrono::steady_clock::duration time)
{
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this()](error_code ec) {
        if (auto const self = weak.lock(); self && !ec) self->refresh();
    });
}

// A server that knows less than others must not make us leave one that works, so only a newer claim to the slot does.
void cluster_link::leave_superseded()
{
    for (auto const& p : std::vector{primaries_}) {
        for (cluster_member* const who : std::vector{p->members_}) {
            auto const* const owner = map_->owner_of(slot_of_shard(who->shard()));
            if (!owner) continue;
            auto const address = address_of(*owner).to_string();
            bool const claims = owner->id != p->id_ && owner->epoch > p->epoch_;
            if (address == p->name() || (p->up_ && !claims)) continue;
            move_away(*p, *who, errc::node_unreachable, "the slot of this shard is on " + address + " now");
        }
        // Shards that were turned away come back after a pause.
        if (std::none_of(members_.begin(), members_.end(), [&](auto const* who) { return belongs_on(*p, *who); })) p->close();
    }
    leave_small_groups();
}

bool cluster_link::belongs_on(cluster_primary const& p, cluster_member const& who) const
{
    auto const* const owner = map_->owner_of(slot_of_shard(who.shard()));
    bool const is_there = std::find(p.members_.begin(), p.members_.end(), &who) != p.members_.end();
    return is_there || (owner && address_of(*owner).to_string() == p.name());
}

void cluster_link::leave_small_groups()
{
    for (auto const& p : std::vector{primaries_}) {
        if (p->closing_ || p->replicas_ >= replicas_) continue;
        for (cluster_member* const who : std::vector{p->members_})
            move_away(*p, *who, errc::node_unsuitable,
                      p->name() + ": the groups of this cluster are larger now, and votes wait for " + std::to_string(replicas_) +
                          " replicas");
        p->close();
    }
}

void cluster_link::move_away(cluster_primary& from, cluster_member& who, error_code why, std::string const& words)
{
    from.remove(who);
    waiting_.push_back(&who);
    who.on_primary_down(why, words);
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
    auto problem = problem_with_replicas();
    if (!owner)
        problem = "no server of the cluster has the slot " + std::to_string(slot) + " of this shard, " + std::to_string(map_->covered()) +
                  " of " + std::to_string(cluster_slots) + " slots are covered; redis-cli --cluster fix host:port assigns the others";
    if (!problem.empty()) {
        waiting_.push_back(&who);
        return who.on_primary_down(errc::node_unsuitable, problem);
    }
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
        if (p->closing_) return p;
        p->epoch_ = p->id_ == server.id ? std::max(p->epoch_, server.epoch) : server.epoch;
        p->id_ = server.id;
        return p;
    }
    auto const p = std::make_shared<cluster_primary>(weak_from_this(), server, address, settings_, strand_, cluster_.cluster->shards,
                                                     files_);
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
    bool const asks = !confirmed_ && std::chrono::steady_clock::now() >= confirm_again_;
    if (asks && !owner) keep_why_not_confirmed(errc::node_unsuitable, "no server has the slot of " + std::string{cluster_shards_key});
    if (!asks || !owner) {
        asio::post(strand_, [weak = weak_from_this()] {
            if (auto const self = weak.lock(); self && !self->confirmation_) self->tell_confirmed();
        });
        return;
    }
    shards_to_keep const keep{cluster_.cluster->shards, replicas_};
    confirmation_ = std::make_shared<cluster_question>(strand_, address_of(*owner), settings_, keep, files_);
    confirmation_->ask([weak = weak_from_this()](cluster_answer const& answer) {
        if (auto const self = weak.lock(); self && self->confirmation_) self->confirmed(answer);
    });
}

void cluster_link::confirmed(cluster_answer const& answer)
{
    confirmation_.reset();
    auto const ours = std::to_string(cluster_.cluster->shards);
    std::string const what = "the number of shards cannot be read from the cluster: ";
    if (answer.why) keep_why_not_confirmed(answer.why, what + answer.words);
    else if (!answer.shards_error.empty()) keep_why_not_confirmed(errc::server_error, what + explained(answer.shards_error));
    else if (answer.shards_kept != ours)
        keep_why_not_confirmed(errc::node_unsuitable, "the clients of this cluster have " + answer.shards_kept +
                                                          " shards, and this client has " + ours + ": use shards=" + answer.shards_kept +
                                                          " in every client");
    else confirmed_ = true;
    tell_confirmed();
}

// All shards ask, again and again: the answer holds for a while.
void cluster_link::keep_why_not_confirmed(error_code why_not, std::string words)
{
    not_confirmed_ = why_not;
    not_confirmed_words_ = std::move(words);
    confirm_again_ = std::chrono::steady_clock::now() + confirmation_pause_.next();
}

void cluster_link::tell_confirmed()
{
    auto const why_not = confirmed_ ? error_code{} : not_confirmed_;
    auto const words = confirmed_ ? std::string{} : not_confirmed_words_;
    for (auto const& done : std::exchange(confirming_, {})) done(why_not, words);
}

}  // namespace redlock::detail
