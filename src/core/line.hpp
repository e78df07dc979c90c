// Those who wait for a lock within this client, and when the first of them asks for it.
//
// Only the first talks to the nodes; a lease that is released goes to the next one without them. A line also keeps what its client has
// seen of others who want the lock (quorum/turn.hpp), for a while after it has become empty.
#ifndef REDLOCK_CORE_LINE_HPP
#define REDLOCK_CORE_LINE_HPP

#include "core/acquisition.hpp"
#include "core/hold.hpp"
#include "quorum/patience.hpp"
#include "quorum/per_node.hpp"
#include "quorum/turn.hpp"

#include <redlock/detail/resource.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace redlock::detail {

class attempt;
class lines;

class line final : public alarm, public std::enable_shared_from_this<line> {
public:
    // `lease`: that this client has of it; may be null.
    line(lines& in, std::shared_ptr<resource const> what, hold* lease);
    ~line();

    void join(acquisition& who, time_point now);
    void leave(acquisition& who);
    bool empty() const noexcept { return queue_.empty(); }
    acquisition& first() noexcept { return queue_.front(); }
    acquisition const& first() const noexcept { return queue_.front(); }
    std::vector<std::shared_ptr<acquisition>> waiting_for(owner_id owner);

    // The lease that this client has of it, if it has one.
    hold* here() const noexcept { return here_; }

    // A lease was won on the nodes.
    void won(hold& lease, time_point now);

    // Whether it may be passed on to the next in the line.
    bool may_hand_over(hold const& lease, time_point now) const;
    void handed_over() noexcept { turn_.handed_over(); }

    // It is not here any more.
    void vacated(hold& lease, bool released, time_point now);

    // The attempt of the first was not won.
    void failed(attempt const& lost, time_point now);

    // A key has changed on a node.
    void changed(std::size_t node, time_point now);

    // This client itself is about to free a key on a node.
    void freed_by_us(std::size_t node, time_point now);

    // The connection to a node is lost, and with it what was asked for there.
    void silent(std::size_t node, time_point now);

    void on_alarm(time_point now) override;

    std::shared_ptr<resource const> const what;
    line* next_by_name{nullptr};  // among all lines

private:
    friend class lines;
    class look;

    // What is known of others who have the lock, in the wait of the first.
    struct contest {
        explicit contest(std::size_t nodes, std::uint64_t n) : patience{nodes}, freed{nodes}, number{n} {}

        quorum::patience patience;
        quorum::per_node<std::uint32_t> freed;        // how often by this client itself
        std::uint64_t number;                         // of all of this line
        time_point expires{};                         // the last key, as the last look says
        std::optional<duration> left_when_extended{}; // how much before that the holder extended, the last time that it was seen to
        duration left{};                              // the same, at the race under way
        bool racing{false};                           // the attempt under way was made because a majority had become free
        bool looked{false};                           // the nodes were asked how long they keep the key
        bool napped{false};                           // and has not looked since
    };

    contest& contest_now();
    void consider(time_point now);
    void act(time_point now);
    void look_again(time_point now);
    bool looks_like_an_extension(contest const& with, time_point now) const noexcept;
    void ask_how_long(std::shared_ptr<attempt> const& along_with);
    void on_look(look const& asked, std::size_t node, reply const& answer, time_point now);
    bool has_news(time_point now) const noexcept;

    lines& in_;
    acquisition::list<hook_of_line> queue_;
    hold* here_{nullptr};
    std::unique_ptr<contest> contest_;  // none: as far as is known, nobody has it
    std::uint64_t contests_{0};
    quorum::turn turn_;
    quorum::token_number seen_{0};  // the largest counter in a refusal: another one, another holder
    bool listed_{false};            // in lines::by_key_
    bool retiring_{false};          // in lines::retiring_
    std::shared_ptr<line> self_;    // while it is one of the lines
};

}  // namespace redlock::detail

#endif
