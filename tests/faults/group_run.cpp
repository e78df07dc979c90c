#include "group_run.hpp"

#include "checker.hpp"
#include "crew.hpp"
#include "group_scene.hpp"
#include "group_table.hpp"
#include "pace.hpp"
#include "table.hpp"
#include "timing.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

constexpr auto look_again_after = 20ms;
constexpr auto keys_may_take = 10s;

// If the runner itself was not executed for so long, the workers were not either.
constexpr auto min_stall = 500ms;

class group_run {
public:
    group_run(run_options const& options, std::filesystem::path const& folder)
        : options_{options},
          random_{options.seed},
          kinds_{chosen_kinds()},
          scene_{options.server, options.seed, options.no_namespace.empty()},
          workers_{folder, options.seed, scene_.register_address(),
                   scene_.places(options.misconfigured ? work_kind::plain_group : work_kind::group)}
    {
    }

    bool pass()
    {
        std::cout << "a group: " << version() << ", seed " << options_.seed << ", " << options_.duration.count() / 1'000 << " s\n";
        workers_.start();
        looked_ = boot_clock::now();
        until("the group is whole", [&] { return is_whole(); });
        start_ = boot_clock::now();
        for (std::size_t drawn = 0; boot_clock::now() - start_ < options_.duration; ++drawn) {
            go_through(drawn < kinds_.size() ? kinds_[drawn] : kinds_[random_.below(kinds_.size())]);
            for (auto& words : workers_.crashed()) throw std::runtime_error{words};
        }
        auto wrong = workers_.finish();
        auto const left = keys_left();
        return report(std::move(wrong), left);
    }

private:
    std::vector<group_fault> chosen_kinds()
    {
        std::vector<group_fault> kinds;
        for (auto const kind : all_group_faults()) {
            auto const& t = traits(kind);
            bool const chosen = options_.only.empty() || std::ranges::find(options_.only, t.name) != options_.only.end();
            if (chosen && (options_.no_namespace.empty() || !t.needs_namespace)) kinds.push_back(kind);
        }
        if (!options_.no_namespace.empty())
            std::cout << "skipped: all partitions, as no network namespace can be had: " << options_.no_namespace << std::endl;
        if (kinds.empty()) throw std::invalid_argument{"a run of no faults"};
        for (std::size_t i = kinds.size() - 1; i > 0; --i) std::swap(kinds[i], kinds[random_.below(i + 1)]);
        return kinds;
    }

    // Notes when the group can go on, and with which primary. Whether it could while the machine stood still, nobody knows.
    void look()
    {
        auto id = scene_.who_can_go_on();
        auto const now = boot_clock::now();
        auto const since = std::exchange(looked_, now);
        bool const stalled = now - since > min_stall;
        if (stalled) ++stalls_, longest_stall_ = std::max<std::chrono::nanoseconds>(longest_stall_, now - since);
        if (id == good_ && !stalled) return;
        if (!good_.empty()) could_go_on_.back().until = stalled ? since : now;
        if (!id.empty()) could_go_on_.push_back({now, now});
        good_ = std::move(id);
    }

    template <class Done>
    void until(std::string const& what, Done const& done)
    {
        auto const deadline = boot_clock::now() + patience;
        for (;;) {
            look();
            if (done()) return;
            if (boot_clock::now() > deadline) throw std::runtime_error{"this does not happen: " + what};
            sleep_until(boot_clock::now() + look_again_after);
        }
    }

    void go_through(group_fault kind)
    {
        auto const& t = traits(kind);
        // The first two stay until the end: what they use is watched.
        auto const worker = kind == group_fault::group_worker_killed ? 2 + random_.below(worker_count - 2) : random_.below(worker_count);
        milliseconds const length{random_.between(t.min_length.count(), t.max_length.count())};
        std::cout << stamp() << t.name << ", " << length.count() << " ms" << std::flush;
        group_fault_record record{kind, boot_clock::now(), {}, {}};
        good_.clear();
        could_go_on_.clear();
        scene_.inject(kind, workers_, worker);
        looked_ = boot_clock::now();  // servers that are stopped or started take their time
        if (t.fails_over) until("a replica is promoted", [&] { return scene_.has_failed_over(); });
        pass(length);
        scene_.heal(kind, workers_, worker);
        looked_ = boot_clock::now();
        until("the group is whole again", [&] { return !good_.empty() && is_whole(); });
        pass(milliseconds{random_.between(300, 1'000)});
        record.settled = boot_clock::now();
        if (!good_.empty()) could_go_on_.back().until = record.settled;
        record.could_go_on = could_go_on_;
        faults_.push_back(record);
        std::cout << ", over after " << std::chrono::duration_cast<milliseconds>(record.settled - record.injected).count() << " ms"
                  << std::endl;
    }

    bool is_whole() const { return scene_.is_whole(!options_.misconfigured); }

    void pass(milliseconds length)
    {
        auto const end = boot_clock::now() + length;
        until("time passes", [&] { return boot_clock::now() >= end; });
    }

    std::size_t keys_left() const
    {
        auto const deadline = boot_clock::now() + keys_may_take;
        for (;;) {
            auto const left = scene_.locks().size();
            if (left == 0 || boot_clock::now() > deadline) return left;
            sleep_until(boot_clock::now() + look_again_after);
        }
    }

    bool report(std::vector<std::string> wrong, std::size_t keys) const
    {
        auto const what = workers_.read();
        auto const found = judge(what);  // without faults that excuse anything
        auto const kinds = stops_by_kind(what, faults_);
        std::cout << "\na group: " << version() << ", seed " << options_.seed << ", " << options_.duration.count() / 1'000 << " s\n";
        print_stops(std::cout, kinds_, kinds);
        std::size_t acquired = 0;
        for (auto const& worker : what.workers) acquired += worker.leases.size();
        std::cout << faults_.size() << " faults, " << acquired << " leases, " << found.overlaps.size() << " overlaps, "
                  << found.violations.size() << " violations\n";
        if (stalls_ > 0) std::cout << "the machine stood still " << stalls_ << " times, for " << longest_stall_ / 1ms << " ms at most\n";
        print_writes(std::cout, what);
        print_failures(std::cout, what);
        print_counters(std::cout, counters_of(what));
        print_usage(std::cout, what);
        for (auto const& f : found.violations) wrong.push_back("violation at " + seconds(f.at) + ": " + f.text);
        for (auto const& f : found.overlaps) wrong.push_back("overlap at " + seconds(f.at) + ": " + f.text);
        if (keys > 0) wrong.push_back(std::to_string(keys) + " keys were left behind");
        for (auto const kind : kinds_) {
            auto const& k = kinds[static_cast<std::size_t>(kind)];
            std::string const name{traits(kind).name};
            if (k.times == 0 && faults_.size() >= kinds_.size()) wrong.push_back("never happened: " + name);
            if (k.longest_beyond > in_a_group.max_ttl + options_.slack)
                wrong.push_back(name + ": nobody acquired for " + std::to_string(k.longest_beyond / 1ms) +
                                " ms although a primary had a replica all the time");
        }
        for (auto const& worker : what.workers)
            if (!worker.finished && !worker.killed) wrong.push_back(worker.name + " did not finish");
        for (auto& grown : growth(what)) wrong.push_back(std::move(grown));
        for (auto const& words : wrong) std::cout << "FAILED: " << words << '\n';
        return wrong.empty();
    }

    std::string version() const
    {
        auto const info = scene_.version();
        auto const at = info.find(info.find("valkey_version:") != std::string::npos ? "valkey_version:" : "redis_version:");
        return info.substr(at, info.find('\r', at) - at);
    }

    std::string seconds(moment at) const
    {
        std::ostringstream text;
        text << std::fixed << std::setprecision(3) << std::chrono::duration<double>(at - start_).count() << " s";
        return text.str();
    }

    std::string stamp() const
    {
        std::ostringstream text;
        text << std::setw(11) << seconds(boot_clock::now()) << "  ";
        return text.str();
    }

    run_options const& options_;
    simulation::random random_;
    std::vector<group_fault> kinds_;
    group_scene scene_;
    crew workers_;
    moment start_;
    std::string good_;  // the primary that can go on; empty: there is none
    std::vector<period> could_go_on_;
    moment looked_;
    std::size_t stalls_{0};
    std::chrono::nanoseconds longest_stall_{};
    std::vector<group_fault_record> faults_;
};

}  // namespace

bool run_group_faults(run_options const& options, std::filesystem::path const& folder) { return group_run{options, folder}.pass(); }

}  // namespace redlock::faults
