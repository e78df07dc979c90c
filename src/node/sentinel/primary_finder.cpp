#include "node/sentinel/primary_finder.hpp"

#include "node/connection/node_address.hpp"
#include "quorum/votes.hpp"

#include <boost/asio/post.hpp>

#include <utility>

namespace redlock::detail {

primary_finder::primary_finder(asio::any_io_executor const& strand, node_address const& group, config const& settings,
                               std::function<void()> on_switched)
    : strand_{strand}, group_{completed(group, settings.tls)}, settings_{settings}, on_switched_{std::move(on_switched)}, timer_{strand}
{
}

void primary_finder::open_links()
{
    if (!links_.empty()) return;
    for (node_address const& sentinel : sentinels_of(group_)) {
        auto switched = [weak = weak_from_this()] {
            if (auto const self = weak.lock()) self->on_switched_();
        };
        links_.push_back(std::make_shared<sentinel_link>(strand_, sentinel, group_.sentinel->master, settings_, std::move(switched)));
    }
}

void primary_finder::find(group_memory const& known, handler done)
{
    open_links();
    known_ = known;
    done_ = std::move(done);
    auto const round = ++round_;
    answered_ = 0;
    missing_ = links_.size();
    reports_.assign(links_.size(), {});
    limit(settings_.connect_timeout);
    for (std::size_t i = 0; i < links_.size(); ++i) {
        reports_[i].sentinel = links_[i]->name();
        reports_[i].problem = "no answer in time";
    }
    for (std::size_t i = 0; i < links_.size(); ++i)
        links_[i]->ask([weak = weak_from_this(), i, round](sentinel_report report) {
            if (auto const self = weak.lock()) self->filed(i, round, std::move(report));
        });
}

void primary_finder::filed(std::size_t sentinel, std::uint64_t round, sentinel_report report)
{
    if (round != round_ || !done_) return;
    if (report.is != sentinel_report::outcome::failed) ++answered_;
    reports_[sentinel] = std::move(report);
    if (--missing_ == 0) return finish();
    if (answered_ == quorum::majority(links_.size()) && patience_with_few < settings_.connect_timeout) limit(patience_with_few);
}

void primary_finder::limit(std::chrono::steady_clock::duration time)
{
    timer_.expires_after(time);
    timer_.async_wait([weak = weak_from_this(), round = round_](error_code ec) {
        if (auto const self = weak.lock(); self && !ec && self->round_ == round) self->finish();
    });
}

void primary_finder::finish()
{
    timer_.cancel();
    auto const done = std::exchange(done_, nullptr);
    if (!done) return;
    auto choice = choose_primary(reports_, group_.sentinel->master, known_);
    done({std::move(choice), reports_});
}

void primary_finder::stop(std::function<void()> stopped)
{
    done_ = nullptr;
    on_switched_ = [] {};
    timer_.cancel();
    links_open_ = links_.size();
    if (links_.empty()) return asio::post(strand_, std::move(stopped));
    for (auto const& link : links_)
        link->stop([self = shared_from_this(), stopped] {
            if (--self->links_open_ == 0) stopped();
        });
}

}  // namespace redlock::detail
