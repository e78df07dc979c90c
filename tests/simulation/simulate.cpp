// Runs schedules: many of them for a verdict and figures, or one for its picture.
#include "change_schedule.hpp"
#include "group_schedule.hpp"
#include "page.hpp"
#include "schedule.hpp"
#include "support/instruction_counter.hpp"

#include <CLI/CLI.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace redlock::simulation;

// Worlds of another kind, which some of the seeds have as well. Those of changes take twenty times as many steps as others.
struct kind_of_world {
    char const* name;
    char const* option;
    char const* help;
    std::uint64_t one_in;  // so many seeds has one
    std::uint64_t remainder;
    result (*run)(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say);

    bool is_in(std::uint64_t seed) const noexcept { return seed % one_in == remainder; }
};

constexpr std::array other_worlds{kind_of_world{"of groups", "--groups",
                                                "Only worlds whose nodes are groups: of every seed, and not of one in 16", 16, 5,
                                                run_group_schedule},
                                  kind_of_world{"of changes", "--changes",
                                                "Only worlds whose set of nodes is changed: of every seed, and not of one in 128", 128, 11,
                                                run_change_schedule}};

#ifdef REDLOCK_SANITIZED
constexpr bool is_sanitized = true;
#else
constexpr bool is_sanitized = false;
#endif

// What an assertion of the library says is a violation too: say in which schedule.
thread_local std::uint64_t current_seed = 0;

extern "C" void on_abort(int)
{
    char text[96];
    int const length = std::snprintf(text, sizeof text, "violation: seed=%llu: an assertion does not hold\n",
                                     static_cast<unsigned long long>(current_seed));
    [[maybe_unused]] auto const written = ::write(STDOUT_FILENO, text, static_cast<std::size_t>(length));
    ::_exit(1);
}

struct totals {
    std::uint64_t schedules{0};
    std::uint64_t violations{0};
    std::uint64_t steps{0};
    std::optional<std::uint64_t> instructions{0};  // none: they cannot be counted here
    std::uint64_t hash{0};  // a sum, so that the order of the threads does not matter
    double virtual_hours{0};
    coverage covered{};

    void add(result const& r)
    {
        ++schedules;
        violations += r.violation ? 1 : 0;
        steps += r.steps;
        hash += r.hash;
        virtual_hours += std::chrono::duration<double, std::ratio<3600>>{r.virtual_time}.count();
    }
    void add(totals const& other)
    {
        schedules += other.schedules;
        violations += other.violations;
        steps += other.steps;
        instructions = instructions && other.instructions ? std::optional{*instructions + *other.instructions} : std::nullopt;
        hash += other.hash;
        virtual_hours += other.virtual_hours;
        covered += other.covered;
    }
};

struct settings {
    std::uint64_t seeds{100'000};
    std::uint64_t first{1};
    unsigned jobs{std::max(1u, std::thread::hardware_concurrency())};
    std::uint64_t max_violations{10};
    double seconds{0};  // 0: as long as it takes
    std::uint64_t at_least{0};
    bool show_counters{true};
    std::ofstream* transitions{nullptr};
    kind_of_world const* only{nullptr};
};

class run {
public:
    explicit run(settings const& s) : settings_{s}, show_progress_{::isatty(STDERR_FILENO) == 1} {}

    totals all()
    {
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < settings_.jobs; ++i) threads.emplace_back([this] { work_in_a_context(); });
        for (auto& t : threads) t.join();
        seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
        if (show_progress_) std::fprintf(stderr, "\r\033[K");
        return sum_;
    }

    double seconds() const noexcept { return seconds_; }

    totals const& of(std::size_t kind) const noexcept { return others_[kind]; }

private:
    static constexpr std::uint64_t chunk = 64;

    // Asio keeps the memory of handlers for the next ones, but only in threads that run an io_context. AddressSanitizer wants to see each of them freed.
    void work_in_a_context()
    {
        if constexpr (is_sanitized) return work();
        boost::asio::io_context io{1};
        boost::asio::post(io, [this] { work(); });
        io.run();
    }

    void work()
    {
        totals mine;
        std::array<totals, other_worlds.size()> others;
        redlock::testing::instruction_counter const instructions;
        instructions.resume();
        for (;;) {
            std::uint64_t const from = next_.fetch_add(chunk);
            if (from >= settings_.seeds || violations_ >= settings_.max_violations || (from >= settings_.at_least && is_late())) break;
            std::uint64_t const to = std::min(from + chunk, settings_.seeds);
            for (std::uint64_t i = from; i < to; ++i) {
                current_seed = settings_.first + i;
                if (!settings_.only) {
                    std::string steps;
                    add(mine, run_schedule(current_seed, mine.covered, nullptr, settings_.transitions ? &steps : nullptr));
                    if (settings_.transitions) write(steps);
                }
                instructions.pause();  // they are of the usual schedules
                for (std::size_t k = 0; k < other_worlds.size(); ++k) {
                    auto const& kind = other_worlds[k];
                    if (settings_.only ? settings_.only != &kind : !kind.is_in(current_seed) || settings_.transitions) continue;
                    add(others[k], kind.run(current_seed, others[k].covered, {}));
                }
                instructions.resume();
            }
            progress(to - from);
        }
        instructions.pause();
        mine.instructions = instructions.total();
        std::lock_guard const guard{mutex_};
        sum_.add(mine);
        for (std::size_t k = 0; k < others.size(); ++k) others_[k].add(others[k]);
    }

    void add(totals& to, result const& r)
    {
        to.add(r);
        if (r.violation) report(current_seed, *r.violation);
    }

    void write(std::string const& steps)
    {
        std::lock_guard const guard{mutex_};
        *settings_.transitions << steps;
    }

    bool is_late() const
    {
        return settings_.seconds > 0 && std::chrono::steady_clock::now() - begin_ >= std::chrono::duration<double>{settings_.seconds};
    }

    void report(std::uint64_t seed, std::string const& what)
    {
        ++violations_;
        std::lock_guard const guard{mutex_};
        std::printf("%sviolation: seed=%llu: %s\n", show_progress_ ? "\r\033[K" : "", static_cast<unsigned long long>(seed), what.c_str());
        std::fflush(stdout);
    }

    void progress(std::uint64_t more)
    {
        std::uint64_t const done = done_.fetch_add(more) + more;
        if (!show_progress_) return;
        std::lock_guard const guard{mutex_};
        constexpr int width = 40;
        int const filled = static_cast<int>(done * width / settings_.seeds);
        if (filled == shown_) return;
        shown_ = filled;
        std::fprintf(stderr, "\r[%.*s%.*s] %llu of %llu schedules", filled, "########################################", width - filled,
                     "                                        ", static_cast<unsigned long long>(done),
                     static_cast<unsigned long long>(settings_.seeds));
    }

    settings settings_;
    std::chrono::steady_clock::time_point begin_{std::chrono::steady_clock::now()};
    bool show_progress_;
    std::atomic<std::uint64_t> next_{0};
    std::atomic<std::uint64_t> done_{0};
    std::atomic<std::uint64_t> violations_{0};
    std::mutex mutex_;
    totals sum_;
    std::array<totals, other_worlds.size()> others_;
    int shown_{-1};
    double seconds_{0};
};

// Below so many schedules, rare things may well not have happened.
constexpr std::uint64_t enough_for_coverage = 10'000;

int run_many(settings const& s)
{
    run r{s};
    auto sum = r.all();
    for (std::size_t k = 0; k < other_worlds.size(); ++k) {
        auto const& of = r.of(k);
        if (of.schedules > 0)
            std::printf("%s: schedules=%llu violations=%llu virtual_hours=%.1f steps=%llu hash=%016llx\n", other_worlds[k].name,
                        static_cast<unsigned long long>(of.schedules), static_cast<unsigned long long>(of.violations), of.virtual_hours,
                        static_cast<unsigned long long>(of.steps), static_cast<unsigned long long>(of.hash));
        sum.covered += of.covered;
        sum.violations += of.violations;
    }
    int missing = 0;
    coverage::each([&](coverage::row const& counted) {
        auto const n = sum.covered.*counted.member;
        if (s.show_counters)
            std::printf("  %12llu  %.*s\n", static_cast<unsigned long long>(n), static_cast<int>(counted.name.size()), counted.name.data());
        if (n == 0 && (!s.transitions || counted.in_transitions)) ++missing;
    });
    if (s.only) return sum.violations > 0 ? 1 : 0;
    bool const untested = sum.schedules >= enough_for_coverage && missing > 0;
    if (untested) std::printf("%d of the counters are zero: these schedules do not test what they should\n", missing);
    if (sum.instructions)
        std::printf("instructions_per_schedule=%.0f (perf_event_open)\n",
                    static_cast<double>(*sum.instructions) / static_cast<double>(sum.schedules));
    std::printf("schedules=%llu violations=%llu per_second=%.0f virtual_hours=%.1f steps=%llu hash=%016llx\n",
                static_cast<unsigned long long>(sum.schedules), static_cast<unsigned long long>(sum.violations),
                static_cast<double>(sum.schedules) / r.seconds(), sum.virtual_hours, static_cast<unsigned long long>(sum.steps),
                static_cast<unsigned long long>(sum.hash));
    return sum.violations > 0 || untested ? 1 : 0;
}

bool write_page(std::string const& file, std::string const& text)
{
    std::ofstream out{file, std::ios::binary | std::ios::trunc};
    out << text;
    out.close();
    if (!out) std::fprintf(stderr, "simulate: cannot write %s: %s\n", file.c_str(), std::strerror(errno));
    return !out.fail();
}

int run_one_of(kind_of_world const& kind, std::uint64_t seed, bool log)
{
    current_seed = seed;
    coverage covered{};
    std::function<void(std::string const&)> say;
    if (log) say = [](std::string const& line) { std::puts(line.c_str()); };
    auto const r = kind.run(seed, covered, say);
    if (r.violation) std::printf("violation: seed=%llu: %s\n", static_cast<unsigned long long>(seed), r.violation->c_str());
    std::printf("%s: schedules=1 violations=%d virtual_seconds=%.3f steps=%llu hash=%016llx\n", kind.name, r.violation ? 1 : 0,
                std::chrono::duration<double>(r.virtual_time).count(), static_cast<unsigned long long>(r.steps),
                static_cast<unsigned long long>(r.hash));
    return r.violation ? 1 : 0;
}

// Of all its worlds.
int run_one(std::uint64_t seed, bool log, std::string const& trace)
{
    int status = 0;
    for (auto const& kind : other_worlds)
        if (kind.is_in(seed)) status |= run_one_of(kind, seed, log);
    current_seed = seed;
    coverage covered{};
    recorder records;
    auto const r = run_schedule(seed, covered, &records);
    if (log)
        for (auto const& line : records.as_text()) std::puts(line.c_str());
    if (r.violation) std::printf("violation: seed=%llu: %s\n", static_cast<unsigned long long>(seed), r.violation->c_str());
    std::printf("schedules=1 violations=%d virtual_seconds=%.3f steps=%llu hash=%016llx\n", r.violation ? 1 : 0,
                std::chrono::duration<double>(r.virtual_time).count(), static_cast<unsigned long long>(r.steps),
                static_cast<unsigned long long>(r.hash));
    if (!trace.empty()) {
        if (!write_page(trace, page(seed, r, records))) return 2;
        std::printf("its picture is in %s: open it in a browser\n", trace.c_str());
    }
    return r.violation ? 1 : status;
}

}  // namespace

int main(int argc, char** argv)
{
    CLI::App app{"Runs the real library in simulated worlds, each drawn from a seed, and judges what it does"};
    settings s;
    CLI::Range const at_least_one{std::uint64_t{1}, std::uint64_t{1'000'000'000'000}};
    std::uint64_t seed = 0;
    app.add_option("--seeds", s.seeds, "How many schedules to run")->capture_default_str()->check(at_least_one);
    app.add_option("--first", s.first, "The first seed")->capture_default_str();
    app.add_option("--jobs", s.jobs, "Threads")->capture_default_str()->check(CLI::Range(1u, 1024u));
    app.add_option("--violations", s.max_violations, "Stop after so many violations")->capture_default_str()->check(at_least_one);
    app.add_option("--seconds", s.seconds, "Begin no more schedules after so long")->check(CLI::PositiveNumber);
    app.add_option("--at-least", s.at_least, "Run so many, however long it takes")->check(at_least_one);
    for (auto const& kind : other_worlds) app.add_flag_callback(kind.option, [&s, &kind] { s.only = &kind; }, kind.help);
    std::string transitions;
    app.add_option("--transitions", transitions, "Write what happens in the proof's terms to this file, for tests/proof/replay.py")
        ->type_name("FILE");
    app.add_flag("!--no-counters", s.show_counters, "Do not print how often each thing happened");
    auto* const one = app.add_option("--seed", seed, "Run the schedules of this seed, of all kinds of worlds that it has");
    bool log = false;
    app.add_flag("--log", log, "Print what happened in it, a line each")->needs(one);
    std::string trace;
    app.add_option("--trace", trace, "Write its picture to this file, a page of HTML")->needs(one)->type_name("FILE");
    CLI11_PARSE(app, argc, argv);

    std::signal(SIGABRT, on_abort);
    if (*one && s.only) return run_one_of(*s.only, seed, log);
    if (transitions.empty()) return *one ? run_one(seed, log, trace) : run_many(s);
    if (*one) {
        s.first = seed;
        s.seeds = 1;
    }
    std::ofstream out{transitions, std::ios::binary | std::ios::trunc};
    s.transitions = &out;
    int const status = run_many(s);
    out.close();
    if (!out) std::fprintf(stderr, "simulate: cannot write %s: %s\n", transitions.c_str(), std::strerror(errno));
    return out ? status : 2;
}
