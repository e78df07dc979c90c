// The admission of nodes: carries the questions of quorum::admission to the nodes and their answers back, and tells the rounds who
// may vote.
//
// Nodes are inspected when they connect. Marks and admissions, which write to a node, begin with the first lock that wants tokens: a
// client without such locks leaves nothing on the nodes but its keys.
#ifndef REDLOCK_CORE_ADMISSIONS_HPP
#define REDLOCK_CORE_ADMISSIONS_HPP

#include "core/environment.hpp"
#include "quorum/admission.hpp"

#include <redlock/status.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace redlock::detail {

// What is known of a node's right to vote; makes sentences.
struct admission_picture {
    redlock::standing state{redlock::standing::unknown};
    time_point drained{};     // while draining: its end
    std::size_t admitted{0};  // nodes, now
    std::size_t needed{0};    // to admit another one
    std::size_t nodes{0};
    bool nobody_remembers{false};
    std::string silent;       // nodes that have not answered

    // Why it may not vote, for how long, and what to do; empty when it may.
    std::string text(time_point now) const;
};

class admissions final : public alarm {
public:
    admissions(environment& env, quorum::admission_settings settings, std::size_t nodes);
    ~admissions() { env_.cancel_alarm(*this); }

    void up(std::size_t node, quorum::node_facts const& facts);
    void down(std::size_t node);

    // A node that was admitted says that it is not, or is another server than it was.
    void doubt(std::size_t node);

    // Somebody wants a lock with tokens.
    void wanted();

    void on_alarm(time_point now) override;

    // Called with every change.
    std::function<void(std::size_t node, admission_picture const& now)> on_change;

    void clear() noexcept { stopped_ = true; }

private:
    class question;

    void go_on(time_point now);
    void ask(quorum::admission_request const& what, time_point now);
    void answered(quorum::admission_request const& what, reply const& answer, time_point asked, time_point now);
    void tell(std::size_t node);
    admission_picture picture(std::size_t node) const;

    environment& env_;
    quorum::admission rules_;
    std::size_t nodes_;
    bool wanted_{false};
    bool stopped_{false};
    bool going_on_{false};
};

}  // namespace redlock::detail

#endif
