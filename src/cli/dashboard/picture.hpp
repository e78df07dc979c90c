// What `redlock dashboard` knows: the nodes and locks now, and their history, as JSON and in a sentence. node_watch and lock_watch tell it what they
// see. No I/O, and no clock: the moments are passed in.
#ifndef REDLOCK_CLI_DASHBOARD_PICTURE_HPP
#define REDLOCK_CLI_DASHBOARD_PICTURE_HPP

#include "cli/dashboard/history.hpp"
#include "cli/dashboard/lock_watch.hpp"
#include "cli/doctor/facts.hpp"
#include "cli/doctor/votes.hpp"
#include "cli/locks/list_part.hpp"

#include <redlock/config.hpp>
#include <redlock/status.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

// Whether locks can be acquired, for the top of the page.
struct verdict {
    std::string level;  // "good", "warning", "danger", "wait": not all nodes were asked yet
    std::string text;
};

class picture {
public:
    picture(config nodes, std::chrono::milliseconds interval, history_limits limits);

    void add(std::size_t node, doctor_probe const& looked, moment now);

    // Of Redis Clusters, which are the nodes then: each shard of each.
    void add(std::vector<node_status> const& shards, moment now);
    void add(lock_watch::found found);

    // By node: why it does not answer; empty: it does.
    std::vector<std::string> problems() const;

    verdict current_verdict() const;

    // The whole, as docs/dashboard.md describes it, but of the locks only a part. The same text, with its old time, until something is added or another
    // part is wanted.
    std::shared_ptr<std::string const> json(moment now, list_part const& part = {});

private:
    struct node_picture {
        bool seen{false};
        doctor_probe last;
        std::string state;  // as of turn
        std::string text;  // the state in words
        moment since;
        bool is_since_first_look{false};  // it may have been so for longer
        std::deque<clock_sample> clock;  // the latest ones
    };
    std::vector<doctor_probe> asked() const;  // the last answers of all nodes
    set_words said() const;
    std::string objection_of(std::size_t node) const;
    void note_state(std::size_t node, std::string state, std::string text, moment now);
    void note_clock(std::size_t node, moment now);
    void note_verdict(moment now);
    nlohmann::ordered_json node_json(std::size_t n) const;
    nlohmann::ordered_json timeline_json() const;

    config settings_;
    std::vector<std::string> names_;  // of the nodes
    std::vector<node_picture> nodes_;
    std::chrono::milliseconds interval_;
    history history_;
    std::optional<lock_watch::found> found_;
    std::optional<verdict> of_clusters_;  // none: the nodes are servers
    bool majority_lost_{false};  // what the last event about the verdict said
    std::optional<moment> differs_since_;  // since then the verdict has differed from majority_lost_; none: it agrees
    std::shared_ptr<std::string const> cached_json_;  // null: out of date
    list_part cached_part_;
};

}  // namespace redlock::cli

#endif
