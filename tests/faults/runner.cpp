#include "runner.hpp"

#include "checker.hpp"
#include "crew.hpp"
#include "fleet.hpp"
#include "group_run.hpp"
#include "injector.hpp"
#include "pace.hpp"
#include "packet_wire.hpp"
#include "schedule.hpp"
#include "table.hpp"
#include "timing.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <unistd.h>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

// A drain lasts for max_ttl, and then two rounds of questions have to be answered; sanitizers and other work take their time.
constexpr auto admission_patience = 5 * on_servers.max_ttl;
// A key that was set while its server's clock was ahead stays for so long when the clock is right again.
constexpr auto keys_patience = 10s;

// Of this run alone: several may go on at the same time.
std::filesystem::path folder_of(run_options const& options)
{
    return options.folder / (std::to_string(options.seed) + '-' + std::to_string(::getpid()));
}

class run {
public:
    explicit run(run_options const& options)
        : options_{options}, folder_{std::filesystem::absolute(folder_of(options))}, kinds_{chosen_kinds()}, schedule_{options.seed, kinds_}
    {
        std::filesystem::remove_all(folder_);
        std::filesystem::create_directories(folder_);
        if (options.no_namespace.empty()) wire_.emplace(options.seed);
        servers_.emplace(options.server, wire_ ? "0.0.0.0" : "127.0.0.1");
        workers_.emplace(folder_, options.seed, wire_ ? "0.0.0.0" : "127.0.0.1", places());
        injector_.emplace(*servers_, *workers_, wire_ ? &*wire_ : nullptr);
    }

    int pass()
    {
        std::cout << servers_->version() << ", seed " << options_.seed << ", " << options_.duration.count() / 1'000 << " s\n";
        if (!wire_)
            std::cout << "skipped: packet loss, packet delay, partition, as no network namespace can be had: " << options_.no_namespace
                      << '\n';
        workers_->start();
        start_ = boot_clock::now();
        // A slow machine may take longer until each fault was there.
        for (std::size_t phases = 0;; ++phases) {
            auto const enough = phases < kinds_.size() ? 6 * options_.duration : options_.duration;
            if (boot_clock::now() - start_ >= enough) break;
            go_through(schedule_.next());
            for (auto& words : workers_->crashed()) throw std::runtime_error{words};
        }
        wrong_ = workers_->finish();
        auto const left = keys_left();
        return report(left);
    }

private:
    std::vector<fault_kind> chosen_kinds() const
    {
        std::vector<fault_kind> kinds;
        for (auto const kind : all_fault_kinds()) {
            auto const& t = traits(kind);
            bool const chosen = options_.only.empty() || std::ranges::find(options_.only, t.name) != options_.only.end();
            if (chosen && (options_.no_namespace.empty() || !t.needs_namespace)) kinds.push_back(kind);
        }
        return kinds;
    }

    // Where there is a wire, every second worker works at its far end. All call the nodes by the same addresses, as members of one set.
    std::vector<work_place> places()
    {
        std::vector<work_place> all(worker_count);
        auto const ports = servers_->proxy().ports();
        for (std::size_t worker = 0; worker < worker_count; ++worker) {
            bool const far = wire_ && worker % 2 == 1;
            auto& place = all[worker];
            if (far) place.under = wire_->under();
            place.register_host = far ? packet_wire::address_of_others() : "127.0.0.1";
            for (std::size_t i = 0; i < node_count; ++i) {
                if (options_.misconfigured && (worker % 2 == 0) != (i < 2)) continue;
                place.nodes.push_back("redis://" + (wire_ ? packet_wire::address_of_node(i) : "127.0.0.1") + ":" +
                                      std::to_string(ports[i]));
            }
        }
        return all;
    }

    void go_through(phase const& next)
    {
        std::vector<fault_record> records;
        for (auto const& what : next.faults) {
            say(what);
            records.push_back({what, boot_clock::now(), {}, {}});
            injector_->inject(what);
        }
        std::ranges::sort(records, {}, [](fault_record const& r) { return r.injected + r.what.length; });
        for (auto& record : records) {
            sleep_until(record.injected + record.what.length);
            injector_->heal(record.what);
            record.healed = boot_clock::now();
        }
        await_admissions();
        sleep_until(boot_clock::now() + next.settle);
        for (auto& record : records) {
            record.settled = boot_clock::now();
            faults_.push_back(record);
        }
    }

    // Nodes that forgot may vote again by themselves, unless they are so many that nobody knows what was lost.
    void await_admissions()
    {
        constexpr std::size_t too_many = (node_count + 1) / 2;
        auto const deadline = boot_clock::now() + patience;
        auto act_at = boot_clock::now() + admission_patience;
        for (;;) {
            std::size_t out = 0;
            for (std::size_t node = 0; node < node_count; ++node) out += servers_->admitted(node) ? 0 : 1;
            if (out == 0) return;
            auto const now = boot_clock::now();
            if (now > deadline) throw std::runtime_error{"nodes are not admitted again"};
            if (now > act_at && out >= too_many) {
                std::cout << stamp() << "an operator begins anew: too many nodes lost their memory at once\n";
                servers_->begin_anew();
                ++operators_;
                act_at = now + admission_patience;
            }
            sleep_until(now + 10ms);
        }
    }

    std::size_t keys_left()
    {
        auto const deadline = boot_clock::now() + keys_patience;
        for (;;) {
            std::size_t left = 0;
            for (std::size_t node = 0; node < node_count; ++node) left += servers_->locks(node).size();
            if (left == 0 || boot_clock::now() > deadline) return left;
            sleep_until(boot_clock::now() + 20ms);
        }
    }

    int report(std::size_t keys)
    {
        auto what = workers_->read();
        what.faults = std::move(faults_);
        auto const found = judge(what);
        auto const kinds = figures_by_kind(what, found);
        auto const all = figures_of_all(what, found);

        std::cout << '\n' << servers_->version() << ", seed " << options_.seed << ", " << options_.duration.count() / 1'000 << " s\n";
        print_table(std::cout, kinds_, kinds, all);
        print_writes(std::cout, what);
        auto const readers = readers_of(what);
        auto const permits = permits_of(what);
        std::cout << "readers: " << readers.leases << ", of which " << readers_of(what, true).leases << " began as writers; at most "
                  << readers.max_together << " at once\n"
                  << "leases on permits: " << permits.leases << "; at most " << permits.max_together << " permits at once\n";
        print_failures(std::cout, what);
        auto const counters = counters_of(what);
        print_counters(std::cout, counters);
        print_usage(std::cout, what);
        std::cout << "keys left behind: " << keys << "; an operator was needed " << operators_ << " times more\n";
        complain("violation", found.violations);
        complain("overlap", found.overlaps);
        if (keys > 0) wrong_.push_back(std::to_string(keys) + " keys were left behind");
        if (all.acquired == 0) wrong_.push_back("nobody acquired anything");
        if (readers.max_together < 2) wrong_.push_back("no two readers were there at once");
        if (permits.max_together < 2) wrong_.push_back("no two permits were held at once");
        for (auto const kind : kinds_)
            if (kinds[static_cast<std::size_t>(kind)].times == 0) wrong_.push_back("never happened: " + std::string{traits(kind).name});
        auto const stepped = [&](fault_kind kind) { return kinds[static_cast<std::size_t>(kind)].times > 0; };
        auto const noticed = counters.find("clocks noticed that were set");
        if ((stepped(fault_kind::clock_forward) || stepped(fault_kind::clock_backward)) &&
            (noticed == counters.end() || noticed->second == 0))
            wrong_.push_back("clocks were set, and no client noticed");
        for (auto const& worker : what.workers)
            if (!worker.finished && !worker.killed) wrong_.push_back(worker.name + " did not finish");
        for (auto& grown : growth(what)) wrong_.push_back(std::move(grown));
        constexpr std::size_t max_lines = 50;
        for (std::size_t i = 0; i < std::min(max_lines, wrong_.size()); ++i) std::cout << "FAILED: " << wrong_[i] << '\n';
        if (wrong_.size() > max_lines) std::cout << "FAILED: and " << wrong_.size() - max_lines << " more of these\n";
        return wrong_.empty() ? EXIT_SUCCESS : EXIT_FAILURE;
    }

    // Few of each kind, so that both are seen where there are many.
    template <class Findings>
    void complain(std::string const& kind, Findings const& all)
    {
        constexpr std::size_t most = 20;
        for (std::size_t i = 0; i < std::min(most, all.size()); ++i)
            wrong_.push_back(kind + " at " + seconds(all[i].at) + ": " + all[i].text);
        if (all.size() > most) wrong_.push_back("and " + std::to_string(all.size() - most) + " times more: " + kind);
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

    void say(fault const& what) const
    {
        std::cout << stamp() << traits(what.kind).name;
        if (!what.nodes.empty()) std::cout << ", node";
        for (auto const node : what.nodes) std::cout << ' ' << node + 1;
        if (traits(what.kind).max_nodes == 0) std::cout << ", worker " << what.worker;
        if (what.size != 0) std::cout << ", " << what.size;
        std::cout << ", " << what.length.count() << " ms" << std::endl;
    }

    run_options const& options_;
    std::filesystem::path folder_;
    std::vector<fault_kind> kinds_;
    schedule schedule_;
    std::optional<packet_wire> wire_;
    std::optional<fleet> servers_;
    std::optional<crew> workers_;
    std::optional<injector> injector_;
    moment start_;
    std::vector<fault_record> faults_;
    std::vector<std::string> wrong_;
    std::size_t operators_{0};
};

}  // namespace

int run_faults(run_options const& options)
{
    auto const folder = folder_of(options);
    int outcome = EXIT_FAILURE;
    heed_interruptions();
    try {
        if (options.group) {
            auto const logs = std::filesystem::absolute(folder);
            std::filesystem::remove_all(logs);
            std::filesystem::create_directories(logs);
            if (run_group_faults(options, logs)) outcome = EXIT_SUCCESS;
        } else {
            run one{options};
            outcome = one.pass();
        }
    } catch (std::exception const& error) {
        std::cout << "FAILED: " << error.what() << '\n';
    }
    if (outcome == EXIT_SUCCESS && !options.keep) std::filesystem::remove_all(folder);
    else std::cout << "the logs are in " << folder.string() << '\n';
    std::cout << (outcome == EXIT_SUCCESS ? "passed" : "FAILED") << ", seed " << options.seed << '\n';
    return outcome;
}

}  // namespace redlock::faults
