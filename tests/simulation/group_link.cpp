#include "group_link.hpp"

#include "link.hpp"
#include "universe.hpp"

#include "node/sentinel/primary_choice.hpp"

#include <boost/asio/post.hpp>

#include <optional>
#include <utility>

namespace redlock::simulation {

namespace {

// By what name the Sentinels know the primary; in messages only.
constexpr char const* master_name = "m";

// What a pause is longer by than chance says, so that time passes.
constexpr duration min_pause = 10us;

// search() asks the Sentinels, and connects to the candidate that it chooses; then the connection is usable, while check() asks them again from time to
// time. Once the connection is down it is closed, and search() begins anew.
class group_link final : public detail::node_listener, public std::enable_shared_from_this<group_link> {
public:
    group_link(universe& in, process& p, asio::any_io_executor strand, replica_group& group, wished_acknowledgements wished)
        : universe_{in}, process_{p}, strand_{std::move(strand)}, group_{group}, wished_{wished}
    {
    }

    std::string const& name() const noexcept { return group_.name(); }

    void start(std::size_t index, std::weak_ptr<detail::node_listener> listener)
    {
        index_ = index;
        listener_ = std::move(listener);
        search_after(0ns);
    }

    void stop()
    {
        if (std::exchange(stopping_, true)) return;
        if (connection_) return connection_->stop();
        asio::post(strand_, [self = shared_from_this()] { self->stopped(); });
    }

    void reject(error_code why, std::string words)
    {
        if (state_ == state::usable) connection_->reject(why, std::move(words));
    }

    void exec(detail::batch const& work, std::string_view id, std::vector<detail::reply>& replies, detail::exec_handler handler)
    {
        connection_->exec(work, id, replies, std::move(handler));
    }

    void on_up(std::size_t, std::string const& server, quorum::node_facts const& facts) override
    {
        if (state_ != state::connecting) return;
        if (!facts.master) return connection_->reject(errc::node_unsuitable, "a replica");
        // The primary's record has another number of replicas for which votes wait (k), so group_binding has taken the id.
        if (!facts.why_unidentified.empty()) ++universe_.covered->other_k_refused;
        state_ = state::usable;
        if (detail::has_most_sentinels(current_, replica_group::sentinels)) known_.newest_epoch = current_.epoch;
        known_.servers = current_.servers;
        refused_.reset();
        check_later();
        if (auto const l = listener_.lock()) l->on_up(index_, server, facts);
    }

    void on_down(std::size_t, error_code why, std::string const& text) override
    {
        if (state_ != state::connecting && state_ != state::usable) return;
        if (state_ != state::usable) refused_ = current_;
        state_ = state::closing;
        connection_->stop();
        if (auto const l = listener_.lock()) l->on_down(index_, why, text);
    }

    void on_stopped(std::size_t) override
    {
        // The caller is the connection, which cannot be destroyed here.
        asio::post(strand_, [self = weak_from_this().lock()] {
            if (!self) return;
            self->connection_.reset();
            if (self->stopping_) return self->stopped();
            self->search_after(self->search_pause());
        });
    }

    void on_changed(std::size_t, std::string_view key) override
    {
        if (auto const l = listener_.lock()) l->on_changed(index_, key);
    }

    void on_time(std::size_t, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) override
    {
        if (auto const l = listener_.lock()) l->on_time(index_, clock, sent, received);
    }

private:
    enum class state { searching, connecting, usable, closing };

    // Calls `f` on the strand after `d`, unless the link has been stopped by then.
    template <class F>
    void later(duration d, F f)
    {
        universe_.after(d, [weak = weak_from_this(), f] {
            auto const self = weak.lock();
            if (!self) return;
            asio::post(self->strand_, [weak, f] {
                if (auto const link = weak.lock(); link && !link->stopping_) f(*link);
            });
        });
    }

    void search_after(duration d)
    {
        state_ = state::searching;
        later(d + answer_time(), [](group_link& self) { self.search(); });
    }

    duration search_pause() { return universe_.chance.scaled(universe_.weather.max_reconnect); }

    duration check_interval()
    {
        auto const longest = universe_.weather.max_reconnect;
        return min_pause + universe_.chance.between(longest / 2, 4 * longest);
    }

    // Until the Sentinels have answered.
    duration answer_time() { return 2 * universe_.chance.between(universe_.weather.min_delay, universe_.weather.max_delay); }

    void search()
    {
        auto const choice = detail::choose_primary(group_.ask_sentinels(process_), master_name, known_);
        if (choice.candidates.empty()) return search_after(min_pause + search_pause());
        current_ = detail::candidate_to_use(choice, refused_);
        auto& l = universe_.between(process_, group_.at(group_.member_of(current_.primary)));
        l.acknowledgements = wished_.as_single_server ? std::uint16_t{0}
                                                      : detail::acknowledgements_of(current_, wished_.replicas, master_name).count;
        state_ = state::connecting;
        connection_ = l.front(strand_);
        connection_->start(0, weak_from_this());
    }

    void check_later()
    {
        auto const interval = check_interval();
        later(interval + answer_time(), [number = ++checks_](group_link& self) {
            if (self.checks_ == number && self.state_ == state::usable) self.check();
        });
    }

    void check()
    {
        auto const choice = detail::choose_primary(group_.ask_sentinels(process_), master_name, known_);
        if (!detail::successor_of(current_, choice)) return check_later();
        ++universe_.covered->left_old_primary;
        connection_->reject(errc::node_unsuitable, "the Sentinels name another primary now");
    }

    void stopped()
    {
        if (std::exchange(stopped_, true)) return;
        if (auto const l = listener_.lock()) l->on_stopped(index_);
    }

    universe& universe_;
    process& process_;
    asio::any_io_executor strand_;
    replica_group& group_;
    wished_acknowledgements wished_;
    std::size_t index_{0};
    std::weak_ptr<detail::node_listener> listener_;
    std::unique_ptr<detail::node> connection_;
    state state_{state::searching};
    detail::primary_candidate current_;  // what connection_ goes to
    std::optional<detail::primary_candidate> refused_;  // could not be used at the last attempt
    detail::group_memory known_;
    std::uint64_t checks_{0};  // a check that was planned before the latest one, on an earlier connection, is left out
    bool stopping_{false};
    bool stopped_{false};
};

// The core owns this and may destroy it while handlers still have the group_link.
class front final : public detail::node {
public:
    explicit front(std::shared_ptr<group_link> link) : link_{std::move(link)} {}

    std::string const& name() const noexcept override { return link_->name(); }
    void start(std::size_t index, std::weak_ptr<detail::node_listener> listener) override { link_->start(index, std::move(listener)); }
    void stop() override { link_->stop(); }
    void reject(error_code why, std::string words) override { link_->reject(why, std::move(words)); }
    void exec(detail::batch const& work, std::string_view id, std::vector<detail::reply>& replies, detail::exec_handler handler) override
    {
        link_->exec(work, id, replies, std::move(handler));
    }

private:
    std::shared_ptr<group_link> link_;
};

}  // namespace

std::unique_ptr<detail::node> make_group_link(universe& in, process& p, asio::any_io_executor strand, replica_group& group,
                                              wished_acknowledgements wished)
{
    return std::make_unique<front>(std::make_shared<group_link>(in, p, std::move(strand), group, wished));
}

}  // namespace redlock::simulation
