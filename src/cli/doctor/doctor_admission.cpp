#include "cli/doctor/doctor_admission.hpp"

#include "cli/output/text.hpp"
#include "protocol/fence_keys.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

std::uint64_t to_number(std::string_view digits)
{
    std::uint64_t value{0};
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return value;
}

bool has_record(doctor_probe const& n) { return n.has_high_water && n.record.size() >= detail::record_mark_at; }

// Whether something must be changed on the server before it can be a node: waiting does not help.
bool is_unfit(doctor_probe const& n)
{
    bool const elsewhere = n.field("cluster_enabled") == "1" || n.field("redis_mode") == "cluster" || n.is_sentinel() ||
                           n.field("role") == "slave";
    return elsewhere || n.evicts() || is_unknown_command(n.info_refused) ||
           std::any_of(n.refused.begin(), n.refused.end(), [](refusal const& r) { return r.needed_by_all; });
}

struct admission_count {
    std::size_t admitted{0}, silent{0}, unfit{0};

    explicit admission_count(std::vector<doctor_probe> const& nodes)
    {
        for (doctor_probe const& n : nodes) {
            admitted += n.is_admitted() ? 1 : 0;
            unfit += n.problem.empty() && is_unfit(n) ? 1 : 0;
            silent += n.problem.empty() && (!n.info.empty() || is_unfit(n)) ? 0 : 1;
        }
    }
};

class admission_rules {
public:
    admission_rules(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
        : nodes_{nodes}, settings_{settings}, lock_{lock}, wait_{settings.max_ttl}
    {
        for (doctor_probe const& n : nodes) wait_ = std::max(wait_, max_ttl_of(n));
    }

    std::vector<finding> make()
    {
        admission();
        return std::move(found_);
    }

private:
    using milliseconds = std::chrono::milliseconds;

    // What the node's record allows; 0: there is no record.
    static milliseconds max_ttl_of(doctor_probe const& n)
    {
        if (n.record.size() <= detail::record_mark_at) return {};
        return milliseconds{to_number(std::string_view{n.record}.substr(detail::record_max_ttl_at, detail::record_max_ttl_size))};
    }

    void add(severity is, std::string where, std::string what, std::string remedy)
    {
        found_.push_back({is, std::move(where), std::move(what), std::move(remedy)});
    }

    // For a node that is not admitted: a text that says which client waits for it, and the remedy.
    std::pair<std::string, std::string> wait_for(doctor_probe const& n) const
    {
        if (n.watched_from && !n.watched_from->empty()) {
            std::string from;
            for (auto const& host : *n.watched_from) from += (from.empty() ? "" : ", ") + host;
            return {"clients wait for it (from " + from + "), for " + in_words(wait_) + " in all", "wait"};
        }
        std::string const admits = "run redlock admit now: it takes " + in_words(wait_);
        if (n.waited_here) {
            auto const waited = std::chrono::ceil<std::chrono::seconds>(*n.waited_here) +
                                0ns;  // the same for nodes that were marked together
            auto const left = wait_ - waited;
            return {"processes of this machine have waited for " + in_words(waited),
                    (left > 0ns ? "wait for " + in_words(left) + " more; then the next process" : std::string{"the next process"}) +
                        " here that wants a lock with fencing admits it, or redlock admit"};
        }
        if (!n.watched_from) return {"whether anybody waits for it cannot be seen, as CLIENT LIST is refused", admits};
        return {"nobody waits for it", admits};
    }

    void admission()
    {
        if (!lock_.fencing) return;
        auto const [admitted, silent, unfit] = admission_count{nodes_};
        for (doctor_probe const& n : nodes_)
            if (n.is_admitted()) same_max_ttl(n);
        bool const was_used = std::any_of(nodes_.begin(), nodes_.end(), has_record);
        if (admitted == 0 && silent == 0 && unfit > 0 && !was_used)
            return add(severity::danger, "",
                       "no node was ever admitted: these nodes are new, or lost everything. A new beginning needs all of them, and " +
                           std::to_string(unfit) + " of " + count_of(nodes_.size(), "node") + (unfit == 1 ? " is" : " are") +
                           " not fit: waiting does not help",
                       "mend what is said of each, or use another server in its place; then the first lock with fencing waits " +
                           in_words(wait_));
        if (admitted == 0 && silent == 0 && !was_used) {
            for (doctor_probe const& n : nodes_) {
                auto const [who, remedy] = wait_for(n);
                add(severity::warning, n.node,
                    "no node was ever admitted: these nodes are new, or lost everything, and locks with fencing wait for all of them; " +
                        who,
                    remedy + "; where nothing was ever locked, --bootstrap (config: \"bootstrap\") spares the wait");
            }
            return;
        }
        if (only_an_operator_can_help(nodes_))
            return add(severity::danger, "",
                       std::to_string(nodes_.size() - admitted) + " of " + count_of(nodes_.size(), "node") +
                           " restarted or lost their data since they were admitted, and the others are too few to admit them: nobody can "
                           "acquire a lock with fencing; waiting does not help, an operator must act",
                       "to begin anew, DEL redlock:node on every node; then redlock admit waits " + in_words(wait_) +
                           " and admits them, see docs/fencing.md");
        for (doctor_probe const& n : nodes_) {
            if (!n.problem.empty() || n.info.empty() || n.is_admitted() || is_unfit(n)) continue;
            auto const [who, remedy] = wait_for(n);
            add(severity::warning, n.node, std::string{what_happened(n)} + ", and is not admitted yet; " + who, remedy);
        }
    }

    void same_max_ttl(doctor_probe const& n)
    {
        auto const theirs = max_ttl_of(n);
        if (lock_.ttl + lock_.lock_delay > theirs)
            add(severity::danger, n.node,
                "it was admitted for a max_ttl of " + in_words(theirs) + ", and refuses locks with a ttl of " + in_words(lock_.ttl) +
                    (lock_.lock_delay > 0ms ? " and a lock_delay of " + in_words(lock_.lock_delay) : ""),
                "use a shorter ttl; a larger max_ttl needs a new admission, see docs/fencing.md");
        else if (theirs != settings_.max_ttl)
            add(severity::note, n.node,
                "it was admitted for a max_ttl of " + in_words(theirs) + "; this configuration says " + in_words(settings_.max_ttl),
                "every client of a set of nodes should say the same");
    }

    std::vector<doctor_probe> const& nodes_;
    config const& settings_;
    lock_options const& lock_;
    milliseconds wait_;  // of a node that lost its data: the longest ttl that a record or this configuration allows
    std::vector<finding> found_;
};

}  // namespace

// The record of another server came from that one, or from this server's own files.
char const* what_happened(doctor_probe const& n)
{
    if (has_record(n)) return "it was promoted, or restarted with the data that it had stored";
    return n.record.empty() && !n.has_high_water ? "it is new, or lost its data" : "it restarted, or lost its data";
}

bool only_an_operator_can_help(std::vector<doctor_probe> const& nodes)
{
    auto const [admitted, silent, unfit] = admission_count{nodes};
    return admitted > 0 && silent == 0 && unfit == 0 && admitted < nodes.size() - nodes.size() / 2;
}

std::vector<finding> diagnose_admission(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
{
    return admission_rules{nodes, settings, lock}.make();
}

}  // namespace redlock::cli
