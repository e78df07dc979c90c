#include "core/lease/ticket.hpp"

#include "protocol/keys.hpp"
#include "quorum/node_set.hpp"
#include "quorum/ttl_bounds.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace redlock::detail {

namespace {

constexpr std::string_view family = "redlock-ticket-";
constexpr std::uint64_t version = 1;
constexpr std::size_t max_text = std::size_t{64} * 1024;  // no ticket is longer; bounds what a reader works on
constexpr std::size_t max_keys = 64;
constexpr std::uint64_t token_end = std::uint64_t{1} << 53;
constexpr auto time_max_ms = static_cast<std::uint64_t>(quorum::ttl_bounds::most.count());

// FNV-1a.
constexpr std::uint64_t hash_of(std::string_view bytes) noexcept
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (char const c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string in_letters(std::string_view bytes)
{
    std::string text;
    std::uint32_t bits = 0;
    int count = 0;
    for (char const c : bytes) {
        bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xffff;
        for (count += 8; count >= 6; count -= 6) text += letters[bits >> (count - 6) & 63];
    }
    if (count > 0) text += letters[bits << (6 - count) & 63];
    return text;
}

// False: there is a letter that is none of them.
bool from_letters(std::string_view text, std::string& bytes)
{
    std::uint32_t bits = 0;
    int count = 0;
    for (char const c : text) {
        auto const at = letters.find(c);
        if (at == letters.npos) return false;
        bits = (bits << 6 | static_cast<std::uint32_t>(at)) & 0xffff;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>(bits >> count & 0xff);
    }
    return true;
}

class writer {
public:
    // Seven bits a byte, the low ones first.
    void number(std::uint64_t n)
    {
        for (; n >= 0x80; n >>= 7) bytes_ += static_cast<char>(0x80 | (n & 0x7f));
        bytes_ += static_cast<char>(n);
    }
    void fixed(std::uint64_t n, int size)
    {
        for (int i = 0; i < size; ++i) bytes_ += static_cast<char>(n >> (8 * i) & 0xff);
    }
    void text(std::string_view t)
    {
        number(t.size());
        bytes_ += t;
    }
    std::string const& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

// Whatever is missing makes the reader fail, and reads as nothing.
class reader {
public:
    explicit reader(std::string_view bytes) : left_{bytes} {}

    std::uint64_t number(std::uint64_t most)
    {
        std::uint64_t n = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            if (left_.empty()) break;
            auto const byte = static_cast<unsigned char>(left_.front());
            left_.remove_prefix(1);
            n |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
            if (byte < 0x80) return n <= most ? n : fail();
        }
        return fail();
    }
    std::uint64_t fixed(std::size_t size)
    {
        if (left_.size() < size) return fail();
        std::uint64_t n = 0;
        for (std::size_t i = 0; i < size; ++i) n |= static_cast<std::uint64_t>(static_cast<unsigned char>(left_[i])) << (8 * i);
        left_.remove_prefix(size);
        return n;
    }
    std::string text()
    {
        auto const size = static_cast<std::size_t>(number(left_.size()));
        if (size > left_.size()) fail();
        std::string t{left_.substr(0, failed_ ? 0 : size)};
        left_.remove_prefix(t.size());
        return t;
    }
    bool is_at_end() const noexcept { return !failed_ && left_.empty(); }

private:
    std::uint64_t fail() noexcept
    {
        failed_ = true;
        left_ = {};
        return 0;
    }

    std::string_view left_;
    bool failed_{false};
};

bool is_sane(ticket const& t)
{
    bool const keys = !t.keys.empty() && std::is_sorted(t.keys.begin(), t.keys.end()) &&
                      std::adjacent_find(t.keys.begin(), t.keys.end()) == t.keys.end() &&
                      std::none_of(t.keys.begin(), t.keys.end(), [](auto const& k) { return k.empty() || is_own_key(k); });
    bool const tokens = t.fenced ? t.token > 0 && t.token <= t.last_token && t.last_token <= t.guard
                                 : t.guard + t.token + t.last_token == 0;
    bool const times = t.ttl >= quorum::ttl_bounds::least && static_cast<std::uint64_t>((t.ttl + t.lock_delay).count()) <= time_max_ms;
    return keys && tokens && times && !t.text.empty() && !t.value.empty() && t.nodes > 0 && t.nodes <= max_nodes;
}

}  // namespace

std::string to_text(ticket const& t)
{
    writer w;
    w.number(t.fenced ? 1 : 0);
    w.number(t.nodes);
    for (auto const n : {t.guard, t.token, t.last_token}) w.number(n);
    w.number(static_cast<std::uint64_t>(t.ttl.count()));
    w.number(static_cast<std::uint64_t>(t.lock_delay.count()));
    w.text(t.value);
    w.text(t.text);
    w.number(t.keys.size());
    for (std::string const& key : t.keys) w.text(key);
    w.number(t.servers.size());
    for (auto const each : t.servers) w.fixed(each, 4);
    w.fixed(hash_of(w.bytes()), 8);
    return std::string{family} + std::to_string(version) + '.' + in_letters(w.bytes());
}

errc read_ticket(std::string_view text, ticket& to)
{
    std::string_view const whole = text;
    if (!text.starts_with(family) || text.size() > max_text) return errc::invalid_ticket;
    text.remove_prefix(family.size());
    std::uint64_t of{0};
    auto const [stop, error] = std::from_chars(text.data(), text.data() + text.size(), of);
    if (error != std::errc{} || stop == text.data() + text.size() || *stop != '.' || of == 0) return errc::invalid_ticket;
    if (of > version) return errc::ticket_too_new;
    text.remove_prefix(static_cast<std::size_t>(stop - text.data()) + 1);

    std::string bytes;
    constexpr std::size_t sum = 8;
    if (!from_letters(text, bytes) || bytes.size() < sum) return errc::invalid_ticket;
    std::string_view const fields{bytes.data(), bytes.size() - sum};
    if (reader{std::string_view{bytes}.substr(fields.size())}.fixed(sum) != hash_of(fields)) return errc::invalid_ticket;

    reader r{fields};
    ticket t;
    t.fenced = r.number(1) == 1;
    t.nodes = static_cast<std::uint8_t>(r.number(max_nodes));
    for (auto* const n : {&t.guard, &t.token, &t.last_token}) *n = r.number(token_end - 2);
    t.ttl = std::chrono::milliseconds{r.number(time_max_ms)};
    t.lock_delay = std::chrono::milliseconds{r.number(time_max_ms)};
    t.value = r.text();
    t.text = r.text();
    for (auto left = r.number(max_keys); left > 0; --left) t.keys.push_back(r.text());
    for (auto left = r.number(max_nodes); left > 0; --left) t.servers.push_back(static_cast<std::uint32_t>(r.fixed(4)));
    if (!r.is_at_end() || !is_sane(t) || to_text(t) != whole) return errc::invalid_ticket;  // of two spellings, only ours
    to = std::move(t);
    return errc{};
}

std::uint32_t fingerprint(std::string_view server) noexcept
{
    auto const hash = hash_of(server);
    return static_cast<std::uint32_t>(hash ^ hash >> 32);
}

bool is_of_other_nodes(ticket const& t, std::vector<std::string> const& servers) noexcept
{
    if (t.servers.empty()) return false;
    std::size_t known = 0;
    for (std::string const& each : servers) {
        if (each.empty()) continue;
        ++known;
        if (std::find(t.servers.begin(), t.servers.end(), fingerprint(each)) != t.servers.end()) return false;
    }
    return known >= quorum::majority(servers.size());
}

}  // namespace redlock::detail
