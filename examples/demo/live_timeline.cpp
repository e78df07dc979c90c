#include "live_timeline.hpp"

#include "text.hpp"

#include <algorithm>

namespace demo {
namespace {

constexpr auto slice_length = 250ms;
constexpr std::size_t slices_per_mark = 8;  // a mark on the time axis every two seconds
constexpr std::size_t label_width = 10;
constexpr std::size_t max_entries = 8;

// Without a cursor, and with lines cut at the margin: a wrapped one would make the picture higher than it is counted.
constexpr char const* begin_picture = "\x1b[?25l\x1b[?7l";
constexpr char const* end_picture = "\x1b[?25h\x1b[?7h";
constexpr char const* end_of_line = "\x1b[K\n";
constexpr char const* erase_below = "\x1b[J";

tone worker_tone(std::uint32_t holder) { return static_cast<tone>(static_cast<unsigned>(tone::worker_a) + holder - 1); }

// Neighbours of one tone are painted together, which keeps a frame short.
struct lane {
    terminal const& out;
    std::string text{};
    std::string run{};
    tone current{tone::plain};

    void put(char c, tone what)
    {
        if (what != current) flush();
        current = what;
        run += c;
    }

    std::string flush()
    {
        text += out.paint(current, run);
        run.clear();
        return text;
    }
};

}  // namespace

live_timeline::live_timeline(terminal const& out) : out_{out} { out_.write(begin_picture); }

live_timeline::~live_timeline()
{
    try {
        out_.write(end_picture);
    } catch (output_closed const&) {  // NOLINT(bugprone-empty-catch): nobody looks any more
    }
}

void live_timeline::add(entry const& what)
{
    entries_.push_back(what);
    if (entries_.size() > max_entries) entries_.pop_front();
}

void live_timeline::draw(picture const& now)
{
    take(now);
    auto const [columns, rows] = out_.size();
    std::size_t const beside_lane = label_width + 1 + view_word_width;
    std::size_t const lane_width = columns > beside_lane ? columns - beside_lane : 1;
    std::size_t const last = slices_.size();
    std::size_t const first = last > lane_width ? last - lane_width : 0;

    std::vector<std::string> lines{"", headline(now), "", time_axis(first, first + lane_width)};
    for (std::size_t node = 0; node < node_count; ++node) lines.push_back(node_lane(node, first, last));
    lines.push_back(out_.paint(tone::quiet, "          = votes  x killed  . not connected  q quarantined  - stopped"));
    for (std::size_t lock = 0; lock < lock_count; ++lock) lines.push_back(lock_lane(lock, first, last));
    lines.push_back(out_.paint(tone::quiet, "          A B C process that holds it  ! cancelled"));
    lines.emplace_back();
    lines.push_back(numbers(now));
    lines.emplace_back();
    std::size_t const room = rows > lines.size() + 2 ? rows - lines.size() - 2 : 0;
    for (auto i = entries_.size() - std::min(room, entries_.size()); i < entries_.size(); ++i)
        lines.push_back(one_line(out_, entries_[i], columns - 1));

    std::string frame = "\r";
    if (lines_drawn_ > 0) frame += "\x1b[" + std::to_string(lines_drawn_) + "A";
    for (auto const& line : lines) frame += line + end_of_line;
    out_.write(frame + erase_below);
    lines_drawn_ = lines.size();
}

void live_timeline::take(picture const& now)
{
    auto const index = static_cast<std::size_t>(std::max<std::int64_t>(0, now.at / slice_length));
    while (slices_.size() <= index) {
        slices_.emplace_back();
        slices_.back().nodes = now.nodes;
    }
    auto& current = slices_.back();
    current.nodes = now.nodes;
    for (std::size_t lock = 0; lock < lock_count; ++lock) {
        if (now.holders[lock] != 0) current.holders[lock] = now.holders[lock];
        if (now.cancelled[lock] != cancelled_before_[lock]) current.cancelled[lock] = true;
    }
    cancelled_before_ = now.cancelled;
}

std::string live_timeline::headline(picture const& now) const
{
    std::string line{"  "};
    line.append(out_.paint(tone::strong, "redlock")).append("  five nodes, three processes, ttl ").append(milliseconds(ttl));
    return line.append(right(seconds(now.at), 12));
}

std::string live_timeline::time_axis(std::size_t first, std::size_t last) const
{
    std::string axis(label_width, ' ');
    for (auto i = first; i < last; ++i) {
        if (i % slices_per_mark != 0) continue;
        axis.resize(label_width + i - first, ' ');
        axis += std::to_string(i * slice_length / 1s) + "s";
    }
    return out_.paint(tone::quiet, axis.substr(0, label_width + last - first));
}

std::string live_timeline::node_lane(std::size_t node, std::size_t first, std::size_t last) const
{
    lane cells{out_};
    for (auto i = first; i < last; ++i) {
        auto const seen = slices_[i].nodes[node];
        cells.put(glyph(seen), colour(seen));
    }
    auto const now = slices_.back().nodes[node];
    return left("  node " + std::to_string(node + 1), label_width) + cells.flush() + " " + out_.paint(colour(now), word(now));
}

std::string live_timeline::lock_lane(std::size_t lock, std::size_t first, std::size_t last) const
{
    lane cells{out_};
    for (auto i = first; i < last; ++i) {
        auto const holder = slices_[i].holders[lock];
        if (slices_[i].cancelled[lock]) cells.put('!', tone::alarm);
        else if (holder != 0) cells.put(worker_letter(holder - 1), worker_tone(holder));
        else cells.put('.', tone::quiet);
    }
    return left(std::string{"  "} + lock_names[lock], label_width) + cells.flush();
}

std::string live_timeline::numbers(picture const& now) const
{
    std::uint64_t cancelled = 0;
    for (auto const count : now.cancelled) cancelled += count;
    auto const number = [&](std::uint64_t value, tone what) { return out_.paint(what, std::to_string(value)); };
    return "  sections " + number(now.sections, tone::strong) + "  extensions " + number(now.extensions, tone::strong) + "  cancelled " +
           number(cancelled, tone::strong) + "  late " + number(now.late, now.late == 0 ? tone::good : tone::alarm) + "  overlaps " +
           number(now.overlaps, now.overlaps == 0 ? tone::good : tone::alarm) + "  stale tokens " +
           number(now.stale_tokens, now.stale_tokens == 0 ? tone::good : tone::alarm);
}

}  // namespace demo
