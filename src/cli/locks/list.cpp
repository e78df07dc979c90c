// `redlock list`: shows the locks that are held, without knowing their names; with --watch again and again.
#include "cli/locks/lock_list.hpp"
#include "cli/locks/slot_search.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <algorithm>
#include <chrono>
#include <string>

namespace redlock::cli {

namespace {

constexpr milliseconds min_time{10}, min_interval{100};

void check(list_options const& options)
{
    if (options.pattern.empty()) throw failure{exit_code::usage, "PATTERN is empty, and matches no name; leave it out for all locks"};
    if (options.time < min_time) throw failure{exit_code::usage, "--time is shorter than " + in_words(min_time)};
    if (options.watch && options.interval < min_interval)
        throw failure{exit_code::usage, "--interval is shorter than " + in_words(min_interval)};
}

// The rows that fit below each other. A scrolled screen would not be drawn anew, but moved on.
std::string first_lines(std::string const& text, std::size_t most)
{
    std::size_t end = 0;
    for (std::size_t line = 0; line + 1 < most && end != std::string::npos; ++line) end = text.find('\n', end == 0 ? 0 : end + 1);
    if (most == 0 || end == std::string::npos || end + 1 >= text.size()) return text;
    auto const left = std::count(text.begin() + static_cast<std::ptrdiff_t>(end) + 1, text.end(), '\n');
    return text.substr(0, end + 1) + "and " + count_of(static_cast<std::size_t>(left), "more line") + '\n';
}

class listing {
public:
    explicit listing(list_options const& options)
        : options_{options},
          client_{settings_of_searched(options.from).client},
          nodes_{client_, options.from.timeout},
          pattern_{nodes_.keys(), options.pattern, nodes_.has_all_shards()}
    {
        limits_ = {options.foreign, options.time, static_cast<std::size_t>(options.limit)};
    }

    int once()
    {
        auto const found = search();
        if (options_.json) out_.write(dump(to_json(nodes_.names(), found, std::chrono::system_clock::now()), 2));
        else out_.write(lock_table(out_, found) + remarks(out_, nodes_, found, limits_));
        return code_of(found);
    }

    int again_and_again()
    {
        nodes_.stop_on_signals();
        int code = to_int(exit_code::success);
        for (std::uint64_t round = 0; options_.count == 0 || round < options_.count; ++round) {
            if (round > 0 && !nodes_.pause(options_.interval)) break;
            auto const found = search();
            if (nodes_.interrupted()) break;
            code = code_of(found);
            show(found);
        }
        return nodes_.interrupted() ? to_int(exit_code::success) : code;
    }

private:
    search_result search()
    {
        auto found = find_locks(nodes_, pattern_, limits_);
        gather_slots(nodes_, found);
        take_shards_off(nodes_, found);
        return found;
    }

    static int code_of(search_result const& found) { return to_int(is_known(found) ? exit_code::success : exit_code::no_majority); }

    void show(search_result const& found)
    {
        auto const write = [this](std::string_view text) { out_.write(text, [this] { return nodes_.look_for_signal(); }); };
        if (options_.json) return write(dump(to_json(nodes_.names(), found, std::chrono::system_clock::now()), -1));
        if (!out_.live()) return write(lock_lines(found));
        auto const now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
        auto const title = local_time(static_cast<std::uint64_t>(now)) + ", every " + in_words(options_.interval) + ", Ctrl-C ends";
        auto const above = out_.fold(title, 0) + '\n' + remarks(out_, nodes_, found, limits_) + '\n';
        auto const used = static_cast<std::size_t>(std::count(above.begin(), above.end(), '\n'));
        auto const left = out_.lines() > used + 3 ? out_.lines() - used - 1 : 3;
        write(std::string{terminal::redraw} + above + first_lines(lock_table(out_, found), left));
    }

    list_options const& options_;
    config client_;
    server_group nodes_;
    lock_key_pattern pattern_;
    search_limits limits_;
    terminal out_;
};

}  // namespace

int execute(list_options const& options)
{
    check(options);
    listing l{options};
    return options.watch ? l.again_and_again() : l.once();
}

}  // namespace redlock::cli
