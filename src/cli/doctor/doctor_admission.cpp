#include "cli/doctor/doctor_admission.hpp"

#include "cli/doctor/grants.hpp"
#include "cli/output/text.hpp"
#include "protocol/fence_keys.hpp"
#include "quorum/sets/set_record.hpp"
#include "quorum/timing.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>
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
    return elsewhere || n.evicts() || n.has_foreign_record() || is_unknown_command(n.info_refused) ||
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

// All nodes answer, and too few of them have their data to admit the others.
bool too_few_are_left(std::vector<doctor_probe> const& nodes)
{
    auto const [admitted, silent, unfit] = admission_count{nodes};
    return admitted > 0 && silent == 0 && unfit == 0 && admitted < nodes.size() - nodes.size() / 2;
}

// What the node's record allows; 0: there is no record.
std::chrono::milliseconds max_ttl_of(doctor_probe const& n)
{
    if (n.record.size() <= detail::record_mark_at) return {};
    return std::chrono::milliseconds{to_number(std::string_view{n.record}.substr(detail::record_max_ttl_at, detail::record_max_ttl_size))};
}

// How long nodes that are not admitted have no vote, from when a client asks for it: all nodes of a set that is founded, or those of a majority that
// recovers. They need not have lost anything: a server has another id, too, when its first replica is attached.
std::chrono::nanoseconds wait_of_founding(std::vector<doctor_probe> const& nodes, config const& settings)
{
    std::chrono::nanoseconds longest = settings.max_ttl;
    for (doctor_probe const& n : nodes) longest = std::max<std::chrono::nanoseconds>(longest, max_ttl_of(n));
    bool const counts = settings.trust_uptime && !settings.trust_server_identity;
    bool const recovers = too_few_are_left(nodes) && !only_an_operator_can_help(nodes, settings);
    if (!recovers && admission_count{nodes}.admitted > 0) return longest;
    auto wait = 0ns;
    for (doctor_probe const& n : nodes) {
        if (recovers && n.is_admitted()) continue;
        if (!n.problem.empty() || n.info.empty() || is_unfit(n)) return longest;
        wait = std::max(wait, quorum::drain_of(longest, lock_options{}.clock_drift) - (counts ? n.without_loss() : 0s));
    }
    return wait;
}

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

    void add(severity is, std::string where, std::string what, std::string remedy, std::string since = {})
    {
        found_.push_back({is, std::move(where), std::move(what), std::move(remedy), std::move(since)});
    }

    // For a node that is not admitted: a text that says which client waits for it, and the remedy.
    std::pair<std::string, std::string> wait_for(doctor_probe const& n) const
    {
        std::string const admits = "run redlock admit now: it takes " + in_words(left_.value_or(wait_));
        if (n.watched_from && !n.watched_from->empty()) {
            std::string from;
            for (auto const& host : *n.watched_from) from += (from.empty() ? "" : ", ") + host;
            if (n.mark().empty()) return {"clients (from " + from + ") begin to wait for it with their next lock or extension", admits};
            return {"clients wait for it (from " + from + ")" + since_its_mark(n) + ", for " +
                        (left_ ? in_words(*left_) + " more" : in_words(wait_) + " in all"),
                    "wait"};
        }
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
        if (auto const left = wait_of_founding(nodes_, settings_); left < wait_) left_ = left;
        if (left_ == 0ns && was_used)
            return add(severity::note, "",
                       std::to_string(nodes_.size() - admitted) + " of " + count_of(nodes_.size(), "node") +
                           " have another id than when they were admitted, as after a first replica was attached, and have lost nothing "
                           "for so long "
                           "that the first lock with fencing admits them at once",
                       "nothing has to be done");
        if (admitted == 0 && silent == 0 && !was_used) {
            if (left_ == 0ns)
                return add(severity::note, "",
                           "no node was ever admitted: these nodes are new, and have run for so long that the first lock with fencing "
                           "admits them at once",
                           "nothing has to be done");
            for (doctor_probe const& n : nodes_) {
                auto const [who, remedy] = wait_for(n);
                add(severity::warning, n.node,
                    "no node was ever admitted: these nodes are new, or lost everything, and locks with fencing wait for all of them; " +
                        who,
                    remedy, since_its_loss(n));
            }
            return;
        }
        if (too_few_are_left(nodes_)) {
            bool const vain = only_an_operator_can_help(nodes_, settings_);
            return add(severity::danger, "",
                       std::to_string(nodes_.size() - admitted) + " of " + count_of(nodes_.size(), "node") +
                           " restarted, were promoted, or lost their data since they were admitted, and the others are too few to admit "
                           "them: nobody can acquire a lock with fencing" +
                           (vain ? "; waiting does not help, an operator must act"
                                 : " until they have waited for earlier leases; then they vote again, with tokens from the wall clock"),
                       vain ? "to begin anew, DEL redlock:node redlock:set on every node; then redlock admit waits " + in_words(wait_) +
                                  " and admits them, see docs/fencing.md"
                            : "run redlock admit now: it takes " + in_words(left_.value_or(wait_)),
                       since_the_first_started());
        }
        for (doctor_probe const& n : nodes_) {
            if (!n.problem.empty() || n.info.empty() || n.is_admitted() || is_unfit(n)) continue;
            auto const [who, remedy] = wait_for(n);
            add(severity::warning, n.node, std::string{what_happened(n)} + ", and is not admitted yet; " + who, remedy, since_its_loss(n));
        }
    }

    static std::string since_its_loss(doctor_probe const& n)
    {
        auto const since = since_its_start(n);
        auto const noticed = n.marked_at();
        return since.empty() || !noticed ? since : since + ", and before " + local_time(*noticed);
    }

    // Of those that are not admitted.
    std::string since_the_first_started() const
    {
        std::string first;
        for (doctor_probe const& n : nodes_)
            if (auto since = since_its_start(n); !n.is_admitted() && (first.empty() || since < first)) first = std::move(since);
        return first;
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
    std::optional<std::chrono::nanoseconds> left_;  // of nodes that show for how long they have lost nothing
    std::vector<finding> found_;
};

}  // namespace

// The record of another server came from that one, or from this server's own files.
char const* what_happened(doctor_probe const& n)
{
    if (has_record(n)) return "it was promoted, or restarted with the data that it had stored";
    bool const had_data = n.has_high_water || (!n.record.empty() && n.record.find_first_not_of('0') < detail::record_id_size);
    return !had_data ? "it is new, or lost its data" : "it restarted, or lost its data";
}

std::string since_its_mark(doctor_probe const& n)
{
    auto const at = n.marked_at();
    return at ? " since " + local_time(*at) : "";
}

bool only_an_operator_can_help(std::vector<doctor_probe> const& nodes, config const& settings)
{
    // A minority does not know whether it is in the newest generation of a set.
    bool const is_changing = std::any_of(nodes.begin(), nodes.end(), [](doctor_probe const& n) {
        auto const said = quorum::read_set_text(n.set);
        return said.is == quorum::set_text::kind::good && said.record.generation > 0 && !said.record.counts.moved &&
               !said.record.counts.is_of_leaver;
    });
    return too_few_are_left(nodes) && (is_changing || settings.after_majority_loss == majority_loss::wait_for_operator);
}

bool vote_when_asked(std::vector<doctor_probe> const& nodes, config const& settings) { return wait_of_founding(nodes, settings) == 0ns; }

std::vector<finding> diagnose_admission(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock)
{
    return admission_rules{nodes, settings, lock}.make();
}

}  // namespace redlock::cli
