#include "baseline.hpp"

#include "protocol/fence_scripts.hpp"
#include "protocol/keys.hpp"
#include "protocol/scripts.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <initializer_list>
#include <random>
#include <stdexcept>

namespace bench {

namespace {

namespace detail = redlock::detail;

constexpr std::size_t value_size = 32;
constexpr std::size_t lower_bound_size = 16;  // microseconds since 1970, until the year 2286
constexpr std::size_t id_size = 40;

// Words as Redis wants them. A placeholder is a word of one repeated sign: v for the value, b for the lower bound of the token, i for
// the id. The first word is a literal, to which `name` refers.
prepared prepare(std::initializer_list<std::string_view> words)
{
    prepared p;
    p.bytes = "*" + std::to_string(words.size()) + "\r\n";
    p.name = *words.begin();
    p.words = words.size() - 1;
    for (auto const& word : words) {
        if (&word == words.begin() + 1) p.words_at = p.bytes.size();
        p.bytes += "$" + std::to_string(word.size()) + "\r\n";
        if (word == std::string(value_size, 'v')) p.value_at = p.bytes.size();
        if (word == std::string(lower_bound_size, 'b')) p.lower_bound_at = p.bytes.size();
        if (word == std::string(id_size, 'i')) p.id_at = p.bytes.size();
        p.bytes.append(word).append("\r\n");
    }
    return p;
}

// The arguments are those of call_words.cpp, with the defaults of lock_options and config.
prepared prepare_acquire(std::string const& key, std::string const& ttl, bool fencing)
{
    std::string const value(value_size, 'v');
    if (!fencing) return prepare({"SET", key, value, "NX", "PX", ttl});
    redlock::lock_options const options;
    auto const block = std::to_string(options.token_block * (1 + options.max_handoffs));
    auto const retention = std::to_string(redlock::config{}.token_retention.count());
    return prepare({"EVALSHA", detail::fence_acquire_script().sha1, "4", detail::node_record_key, detail::high_water_key, key,
                    key + std::string{detail::fence_suffix}, std::string(id_size, 'i'), ttl, block, retention, value,
                    std::string(lower_bound_size, 'b')});
}

prepared prepare_release(std::string const& key)
{
    return prepare({"EVALSHA", detail::release_script().sha1, "1", key, std::string(value_size, 'v')});
}

std::array<char, 512> make_hex_pairs()
{
    std::array<char, 512> pairs{};
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t i = 0; i < 256; ++i) {
        pairs[2 * i] = digits[i >> 4];
        pairs[2 * i + 1] = digits[i & 15];
    }
    return pairs;
}

void write_hex(char* to, std::uint64_t number) noexcept
{
    static std::array<char, 512> const pairs = make_hex_pairs();
    for (int i = 0; i < 8; ++i, number >>= 8) std::memcpy(to + 2 * i, pairs.data() + 2 * (number & 255), 2);
}

void write_wall_clock(char* to) noexcept
{
    auto const now = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::system_clock::now().time_since_epoch());
    std::to_chars(to, to + lower_bound_size, now.count());
}

// One answer: what it means, and where the next begins. `end` is null where some of it is still missing.
struct answer {
    char const* end{nullptr};
    bool granted{false};
    std::uint64_t token{0};
};

char const* line_end(char const* p, char const* end) noexcept
{
    auto const* const r = static_cast<char const*>(std::memchr(p, '\r', static_cast<std::size_t>(end - p)));
    return r && r + 1 < end ? r : nullptr;
}

// "1 TOKEN", or a refusal, with its length in front; or null.
answer read_text(char const* p, char const* end)
{
    char const* const stop = line_end(p, end);
    if (!stop) return {};
    std::int64_t size = 0, code = 0;
    std::from_chars(p + 1, stop, size);
    if (size < 0) return {stop + 2, false, 0};
    char const* const text = stop + 2;
    if (end - text < size + 2) return {};
    answer a{text + size + 2, false, 0};
    auto const space = std::from_chars(text, text + size, code).ptr;
    if (space == text + size) throw std::runtime_error{"a server answered with a text that is no vote"};
    std::from_chars(space + 1, text + size, a.token);
    a.granted = code == 1;
    return a;
}

answer read_answer(char const* p, char const* end)
{
    switch (*p) {
    case '+':
        if (end - p >= 5 && std::memcmp(p, "+OK\r\n", 5) == 0) return {p + 5, true, 0};
        break;
    case ':':
        if (end - p >= 4 && std::memcmp(p, ":1\r\n", 4) == 0) return {p + 4, true, 0};
        break;
    case '$': return read_text(p, end);
    case '_':
    case '-': break;
    default: throw std::runtime_error{"a server answered with something else than RESP"};
    }
    char const* const stop = line_end(p, end);
    if (!stop) return {};
    if (*p == '-') throw std::runtime_error{"a server answered: " + std::string{p, stop}};
    return {stop + 2, false, 0};
}

}  // namespace

baseline_callers::baseline_callers(workload const& what, meter& figures)
    : majority_{what.at.size() / 2 + 1},
      ids_{what.ids},
      figures_{figures},
      callers_(what.callers),
      stagger_{what.stagger},
      ring_(std::max<std::size_t>(1024, 8 * std::size_t{1} << (64 - __builtin_clzll(what.callers)))),
      heads_(what.at.size(), 0)
{
    if (what.rest > 0ns) rests_.emplace(what.rest);
    std::random_device entropy;
    for (auto& s : seed_) s = std::uint64_t{entropy()} << 32 | entropy();
    auto const ttl = std::to_string(what.ttl.count());
    for (std::size_t i = 0; i < what.callers; ++i) {
        callers_[i].timed = meter::times(i, what.callers);
        for (std::size_t k = 0; k < what.names; ++k) {
            callers_[i].acquires.push_back(prepare_acquire(what.key(i, k), ttl, what.fencing));
            callers_[i].releases.push_back(prepare_release(what.key(i, k)));
        }
    }
}

bool baseline_callers::start(steady::duration since_the_start)
{
    while (started_ < callers_.size() && started_ * stagger_ <= since_the_start) acquire(started_++);
    return started_ == callers_.size();
}

std::size_t baseline_callers::hear(std::size_t node, std::string_view bytes, steady::time_point now)
{
    char const* p = bytes.data();
    char const* const end = p + bytes.size();
    while (p != end) {
        answer const a = read_answer(p, end);
        if (!a.end) break;
        p = a.end;
        if (!a.granted) throw std::runtime_error{"a node refused what nobody else holds"};
        granted(node, a.token, [now] { return now; });
    }
    return static_cast<std::size_t>(p - bytes.data());
}

template <class Clock>
void baseline_callers::granted(std::size_t node, std::uint64_t token, Clock now)
{
    command& c = ring_[heads_[node]++ & (ring_.size() - 1)];
    if (c.granted == 0) c.token = token;
    if (c.granted < majority_ && c.token != token) figures_.confirmed();
    if (++c.granted != majority_) return;
    std::uint32_t const who = c.caller;
    bool const acquired = c.acquires != 0;
    if (!acquired) {
        figures_.pair();
    } else if (callers_[who].timed) {
        figures_.acquired_after(now() - callers_[who].asked_at);
    }
    if (then_) {
        then_(who);
    } else if (acquired) {
        release(who);
    } else if (rests_) {
        resting_.emplace(now() + rests_->next(), who);
    } else {
        acquire(who, now);
    }
}

void baseline_callers::hear_grant(std::size_t node) { granted(node, 0, &steady::now); }

std::optional<steady::time_point> baseline_callers::wake(steady::time_point now)
{
    for (; !resting_.empty() && resting_.begin()->first <= now; resting_.erase(resting_.begin())) acquire(resting_.begin()->second);
    if (resting_.empty()) return std::nullopt;
    return resting_.begin()->first;
}

// xoroshiro128+ (Blackman and Vigna): good enough to be different each time.
std::uint64_t baseline_callers::random() noexcept
{
    auto const rotate = [](std::uint64_t x, int k) { return x << k | x >> (64 - k); };
    std::uint64_t const a = seed_[0];
    std::uint64_t b = seed_[1];
    std::uint64_t const result = a + b;
    b ^= a;
    seed_[0] = rotate(a, 24) ^ b ^ b << 16;
    seed_[1] = rotate(b, 37);
    return result;
}

template <class Clock>
void baseline_callers::acquire(std::uint32_t who, Clock now)
{
    caller& c = callers_[who];
    write_hex(c.value.data(), random());
    write_hex(c.value.data() + 16, random());
    if (c.timed) c.asked_at = now();
    if (++c.name == c.acquires.size()) c.name = 0;
    send(who, true, c.acquires[c.name]);
}

void baseline_callers::acquire(std::uint32_t who) { acquire(who, &steady::now); }

void baseline_callers::release(std::uint32_t who)
{
    caller const& c = callers_[who];
    send(who, false, c.releases[c.name]);
}

void baseline_callers::send(std::uint32_t who, bool acquires, prepared const& what)
{
    std::size_t const begin = out_.size();
    out_.append(what.bytes);
    commands_.push_back({&what, begin});
    std::memcpy(out_.data() + begin + what.value_at, callers_[who].value.data(), value_size);
    if (what.lower_bound_at != 0) write_wall_clock(out_.data() + begin + what.lower_bound_at);
    if (what.id_at != 0) ids_at_.push_back(begin + what.id_at);
    if (next_ - oldest_ == ring_.size()) make_room();
    ring_[next_++ & (ring_.size() - 1)] = {who, 0, static_cast<std::uint16_t>(acquires), 0};
}

// What every node has answered is forgotten; if one is so far behind that this does not help, the queue grows.
void baseline_callers::make_room()
{
    oldest_ = *std::ranges::min_element(heads_);
    if (next_ - oldest_ < ring_.size()) return;
    std::vector<command> larger(2 * ring_.size());
    for (std::uint64_t i = oldest_; i != next_; ++i) larger[i & (larger.size() - 1)] = ring_[i & (ring_.size() - 1)];
    ring_ = std::move(larger);
}

std::string_view baseline_callers::outgoing(std::size_t node)
{
    for (std::size_t const at : ids_at_) std::memcpy(out_.data() + at, ids_[node].data(), id_size);
    return out_;
}

}  // namespace bench
