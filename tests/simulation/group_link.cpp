#include "group_link.hpp"

#include "link.hpp"
#include "universe.hpp"

#include "redis/primary_choice.hpp"

#include <boost/asio/post.hpp>

#include <optional>
#include <utility>

namespace redlock::simulation {

namespace {

class group_link final : public detail::node_listener, public std::enable_shared_from_this<group_link> {
public:
    group_link(universe& in, process& p, asio::any_io_executor strand, replica_group& to, wished_acknowledgements wished)
        : universe_{in}, process_{p}, strand_{std::move(strand)}, to_{to}, wished_{wished}
    {
    }

    std::string const& name() const noexcept { return to_.name(); }

    void start(std::size_t index, std::weak_ptr<detail::node_listener> listener)
    {
        index_ = index;
        listener_ = std::move(listener);
        search_after(0ns);
    }

    void stop()
    {
        if (std::exchange(stopping_, true)) return;
        if (server_) return server_->stop();
        asio::post(strand_, [self = shared_from_this()] { self->stopped(); });
    }

    void reject(error_code why, std::string words)
    {
        if (state_ == state::usable) server_->reject(why, std::move(words));
    }

    void exec(detail::batch const& work, std::string_view id, std::vector<detail::reply>& replies, detail::exec_handler handler)
    {
        server_->exec(work, id, replies, std::move(handler));
    }

    void on_up(std::size_t, std::string const& server, quorum::node_facts const& facts) override
    {
        if (state_ != state::connecting) return;
        if (!facts.master) return server_->reject(errc::node_unsuitable, "a replica");
        if (!facts.why_unidentified.empty()) ++universe_.covered->other_k_refused;
        state_ = state::usable;
        newest_seen_ = current_.epoch;
        refused_.reset();
        check_later();
        if (auto const l = listener_.lock()) l->on_up(index_, server, facts);
    }

    void on_down(std::size_t, error_code why, std::string const& text) override
    {
        if (state_ != state::connecting && state_ != state::usable) return;
        if (state_ != state::usable) refused_ = current_;
        state_ = state::closing;
        server_->stop();
        if (auto const l = listener_.lock()) l->on_down(index_, why, text);
    }

    void on_stopped(std::size_t) override
    {
        asio::post(strand_, [self = self_or_none()] {
            if (!self) return;
            self->server_.reset();
            if (self->stopping_) return self->stopped();
            self->search_after(self->universe_.chance.scaled(self->universe_.weather.reconnect_max));
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

    std::shared_ptr<group_link> self_or_none() { return weak_from_this().lock(); }

    // On the strand, after a while.
    template <class F>
    void later(duration d, F f)
    {
        universe_.after(d, [weak = weak_from_this(), f] {
            auto const self = weak.lock();
            if (!self) return;
            asio::post(self->strand_, [weak, f] {
                if (auto const again = weak.lock(); again && !again->stopping_) f(*again);
            });
        });
    }

    void search_after(duration d)
    {
        state_ = state::searching;
        later(d + answer_time(), [](group_link& self) { self.search(); });
    }

    duration answer_time() { return 2 * universe_.chance.between(universe_.weather.delay_min, universe_.weather.delay_max); }

    void search()
    {
        auto const choice = detail::choose_primary(to_.ask_sentinels(process_), "m", newest_seen_);
        if (choice.candidates.empty()) return search_after(universe_.chance.scaled(universe_.weather.reconnect_max) + 10us);
        auto candidate = choice.candidates.begin();
        if (refused_ && candidate->primary == refused_->primary && candidate->epoch == refused_->epoch && choice.candidates.size() > 1)
            ++candidate;
        current_ = *candidate;
        auto& l = universe_.between(process_, to_.at(to_.member_of(current_.primary)));
        l.acknowledgements = wished_.none ? std::uint16_t{0} : detail::acknowledgements_of(current_, wished_.replicas, "m").count;
        state_ = state::connecting;
        server_ = l.front(strand_);
        server_->start(0, weak_from_this());
    }

    void check_later()
    {
        auto const d = universe_.chance.between(universe_.weather.reconnect_max / 2, 4 * universe_.weather.reconnect_max) + 10us;
        later(d + answer_time(), [number = ++checks_](group_link& self) {
            if (self.checks_ == number && self.state_ == state::usable) self.check();
        });
    }

    void check()
    {
        if (!detail::is_superseded(current_.primary, current_.epoch, to_.ask_sentinels(process_))) return check_later();
        ++universe_.covered->left_old_primary;
        server_->reject(errc::node_unsuitable, "the Sentinels name another primary now");
    }

    void stopped()
    {
        if (std::exchange(stopped_, true)) return;
        if (auto const l = listener_.lock()) l->on_stopped(index_);
    }

    universe& universe_;
    process& process_;
    asio::any_io_executor strand_;
    replica_group& to_;
    wished_acknowledgements wished_;
    std::size_t index_{0};
    std::weak_ptr<detail::node_listener> listener_;
    std::unique_ptr<detail::node> server_;
    state state_{state::searching};
    detail::primary_candidate current_;
    std::optional<detail::primary_candidate> refused_;
    std::uint64_t newest_seen_{0};
    std::uint64_t checks_{0};
    bool stopping_{false};
    bool stopped_{false};
};

// The part that the core owns.
class front final : public detail::node {
public:
    explicit front(std::shared_ptr<group_link> of) : of_{std::move(of)} {}

    std::string const& name() const noexcept override { return of_->name(); }
    void start(std::size_t index, std::weak_ptr<detail::node_listener> listener) override { of_->start(index, std::move(listener)); }
    void stop() override { of_->stop(); }
    void reject(error_code why, std::string words) override { of_->reject(why, std::move(words)); }
    void exec(detail::batch const& work, std::string_view id, std::vector<detail::reply>& replies, detail::exec_handler handler) override
    {
        of_->exec(work, id, replies, std::move(handler));
    }

private:
    std::shared_ptr<group_link> of_;
};

}  // namespace

std::unique_ptr<detail::node> make_group_link(universe& in, process& p, asio::any_io_executor strand, replica_group& to,
                                              wished_acknowledgements wished)
{
    return std::make_unique<front>(std::make_shared<group_link>(in, p, std::move(strand), to, wished));
}

}  // namespace redlock::simulation
