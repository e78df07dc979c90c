#include "protocol/semaphore.hpp"

#include "protocol/fence_answers.hpp"
#include "protocol/fence_keys.hpp"
#include "protocol/fence_scripts.hpp"
#include "protocol/keys.hpp"
#include "protocol/redis_replies.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace redlock::detail {

namespace {

// semaphore.hpp says what each script does, and lists its KEYS, ARGV and answers. What fence_scripts.cpp says of its scripts holds here, too.
//
// A slot that MGET shows as free may be a key of another type: NX refuses it, and the next one is taken. A slot whose counter is something else is
// passed over as if it was taken. The counters of slots that are not granted are not read. The record is written before the slots, since SET can be
// refused. Its retention is never made shorter: another client may have asked for a longer one.
constexpr std::string_view semaphore_acquire_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local n = (#KEYS - 3) / 2
local s = call('MGET', unpack(KEYS, 1, n + 3))
local node, hw = s[1], tonumber(s[2])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return '-1 0 -' end
local maxttl, value, ttl, wanted = tonumber(string.sub(node, 59, 68)), ARGV[2], ARGV[3], tonumber(ARGV[8])
if tonumber(ttl) > maxttl then return string.format('-3 %.0f -', maxttl) end
local version, permits = string.match(s[3] or '', '^(%d+) (%d+)$')
if s[3] and not permits then return '-4 0 -' end
local newer = not version or tonumber(ARGV[10]) > tonumber(version)
if permits and permits ~= ARGV[7] and not newer then return '-7 ' .. permits .. ' ' .. version end
local shown = ' ' .. (newer and ARGV[10] or version)
local map, free, ours, counter, even = {}, {}, 0, 0, true
for i = 0, n - 1 do
  local slot = (ARGV[9] + i) % n + 1
  local holder = s[slot + 3]
  map[slot] = holder and (holder == value and '2' or '1') or '0'
  if not holder then free[#free + 1] = slot
  elseif holder == value then
    local c = redis.pcall('GET', KEYS[n + 3 + slot])
    if type(c) == 'table' and not string.find(c.err, 'WRONGTYPE', 1, true) then call('GET', KEYS[n + 3 + slot]) end
    c = type(c) ~= 'table' and tonumber(c or hw) or 0
    if ours > 0 and c ~= counter then even = false end
    ours, counter = ours + 1, c
  end
end
if newer and (ours > 0 or #free >= wanted) then
  if not call('SET', KEYS[3], ARGV[10] .. ' ' .. ARGV[7], s[3] and 'XX' or 'NX', 'PX', ARGV[6]) then return '-4 0 -' end
end
if ours > 0 then
  if ours == wanted and even and counter > 0 then return string.format('1 %.0f ', counter) .. table.concat(map) .. shown end
  return '0 ' .. s[2] .. ' ' .. table.concat(map) .. shown
end
local got, i = {}, 1
while #got < wanted and #got + #free - i + 1 >= wanted do
  local slot = free[i]
  local fence = redis.pcall('GET', KEYS[n + 3 + slot])
  if type(fence) == 'table' and not string.find(fence.err, 'WRONGTYPE', 1, true) then call('GET', KEYS[n + 3 + slot]) end
  local c = type(fence) ~= 'table' and tonumber(fence or hw)
  if c and call('SET', KEYS[slot + 3], value, 'NX', 'PX', ttl) then
    got[#got + 1], map[slot], counter = slot, '2', math.max(counter, c)
  else map[slot] = '1' end
  i = i + 1
end
if #node > 70 then counter = math.max(counter, tonumber(string.sub(node, 72)) or 0) end
local last, floor = math.max(counter, tonumber(string.sub(node, 42, 57))), tonumber(ARGV[4])
local token, text = last + tonumber(ARGV[5])
if floor > token and (floor - floor % 43200000000 <= hw
    or floor <= tonumber(call('TIME')[1]) * 1000000 + 43200000000) then
  token, text = floor, ARGV[4]
else
  text = string.format('%.0f', token)
end
local fits = token > last and token < 9007199254740992
if #got < wanted or wanted < 1 or not fits then
  for _, slot in ipairs(got) do
    call('DEL', KEYS[slot + 3])
    map[slot] = '0'
  end
  return fits and '0 ' .. s[2] .. ' ' .. table.concat(map) .. shown or '-5 0 -'
end
for _, slot in ipairs(got) do call('SET', KEYS[n + 3 + slot], text, 'PX', ARGV[6]) end
if token > hw then call('SET', KEYS[2], text) end
local stays = call('PTTL', KEYS[3])
if stays < tonumber(ARGV[6]) then call('PEXPIRE', KEYS[3], ARGV[6]) end
return '1 ' .. text .. ' ' .. table.concat(map) .. shown)lua";

// What stands before the script that extends locks. It takes its own last key and argument off the lists, and turns `recreate` off where the record
// says another number. Whatever the record says, it stays as long as somebody relies on the node.
constexpr std::string_view semaphore_extend_head = R"lua(do
  local key, said = table.remove(KEYS), table.remove(ARGV)
  local node, kept = redis.call('GET', KEYS[1]), redis.pcall('GET', key)
  if type(kept) == 'table' and not string.find(kept.err, 'WRONGTYPE', 1, true) then redis.call('GET', key) end
  if node and string.sub(node, 1, 40) == ARGV[1] then
    local version, permits = string.match(said, '^(%d+) (%d+)$')
    local their_version, theirs = string.match(type(kept) == 'string' and kept or '', '^(%d+) (%d+)$')
    if not kept or theirs and tonumber(version) > tonumber(their_version) then
      redis.call('SET', key, said, 'PX', ARGV[2])
    else
      if permits ~= theirs then ARGV[3] = '0' end
      local stays = theirs and redis.call('PTTL', key)
      if stays and stays < tonumber(ARGV[2]) then redis.call('PEXPIRE', key, ARGV[2]) end
    end
  end
end
)lua";

constexpr std::string_view semaphore_keep_text = R"lua(local s = redis.call('MGET', KEYS[1], KEYS[2])
if not s[1] or not tonumber(s[2]) or string.sub(s[1], 1, 40) ~= ARGV[1] then return '-1 0 0' end
local kept = redis.pcall('GET', KEYS[3])
if type(kept) == 'table' and not string.find(kept.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[3]) end
if kept then
  local version, permits = string.match(type(kept) == 'string' and kept or '', '^(%d+) (%d+)$')
  if not version then return '-4 0 0' end
  local newer = tonumber(ARGV[2]) - tonumber(version)
  if newer < 0 or newer == 0 and ARGV[3] ~= permits then return '0 ' .. permits .. ' ' .. version end
end
redis.call('SET', KEYS[3], ARGV[2] .. ' ' .. ARGV[3], 'PX', ARGV[4])
return '1 ' .. ARGV[3] .. ' ' .. ARGV[2])lua";

constexpr std::string_view semaphore_inspect_text = R"lua(local kept = redis.pcall('GET', KEYS[1])
if type(kept) == 'table' and not string.find(kept.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[1]) end
local version, permits = string.match(type(kept) == 'string' and kept or '', '^(%d+) (%d+)$')
local map = {}
for i = 2, #KEYS do map[i - 1] = redis.call('PTTL', KEYS[i]) == -2 and '0' or '1' end
return (permits or '0') .. ' ' .. (version or '0') .. ' ' .. table.concat(map))lua";

}  // namespace

script const& semaphore_acquire_script()
{
    static script const& s = lasting_script(semaphore_acquire_text);
    return s;
}

script const& semaphore_extend_script()
{
    static std::string const& text = *new std::string{std::string{semaphore_extend_head}.append(fence_extend_script().text)};
    static script const& s = lasting_script(text);
    return s;
}

script const& semaphore_keep_script()
{
    static script const& s = lasting_script(semaphore_keep_text);
    return s;
}

script const& semaphore_inspect_script()
{
    static script const& s = lasting_script(semaphore_inspect_text);
    return s;
}

namespace {

// "VERSION K", as the record says it.
std::string record_of(command const& c) { return std::to_string(c.more().version) + ' ' + std::to_string(c.permits); }

void acquire_of_permits(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, semaphore_acquire_script(), 3 + 2 * c.key_count()).key(node_record_key).key(high_water_key).key(c.more().permits_key);
    add_keys(words, c);
    for (std::size_t k = 0; k < c.key_count(); ++k) words.key(c.key_at(k), fence_suffix);
    to.add_id(id);
    add_value(words, c) << c.ttl << c.token << std::uint64_t{c.block} << c.retention << std::uint64_t{c.permits}
                        << std::uint64_t{c.more().wanted} << std::uint64_t{c.more().from} << c.more().version;
}

void extension_of_permits(command_writer& to, command const& c, std::string_view id)
{
    resp_writer& words = to.words();
    call(words, semaphore_extend_script(), 3 + 2 * c.key_count()).key(node_record_key).key(high_water_key);
    add_locks_and_fences(words, c);
    words.key(c.more().permits_key);
    to.add_id(id);
    words << c.retention << "1" << (c.refresh ? "1" : "0");
    for (std::size_t k = 0; k < c.key_count(); ++k) add_value(words, c) << c.token << c.ttl;
    words << record_of(c);
}

void number_of_permits(command_writer& to, command const& c, std::string_view id)
{
    call(to.words(), semaphore_keep_script(), 3).key(node_record_key).key(high_water_key).key(c.key);
    to.add_id(id);
    to.words() << c.more().version << std::uint64_t{c.permits} << c.retention;
}

}  // namespace

void encode_of_permits(command_writer& to, command const& c, std::string_view id)
{
    if (c.what == verb::acquire) return acquire_of_permits(to, c, id);
    if (c.what == verb::extend) return extension_of_permits(to, c, id);
    if (c.what == verb::keep) return number_of_permits(to, c, id);
    call(to.words(), semaphore_inspect_script(), c.key_count());
    add_keys(to.words(), c);
}

namespace {

// The words of a text, one after the other; empty when there are no more.
std::string_view next_word(std::string_view& text) noexcept
{
    auto const end = std::min(text.find(' '), text.size());
    auto const word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return word;
}

// A number below `end`, and nothing else.
std::optional<std::int64_t> number_in(std::string_view word, std::int64_t end = script_number_end)
{
    std::int64_t n{0};
    auto const [stop, error] = std::from_chars(word.data(), word.data() + word.size(), n);
    if (error != std::errc{} || stop != word.data() + word.size() || n >= end) return std::nullopt;
    return n;
}

// The digits of a map; nothing if it is none.
bool read_map(std::string_view map, slots_answer& to) noexcept
{
    if (map.size() > quorum::max_slots) return false;
    for (std::size_t i = 0; i < map.size(); ++i) {
        if (map[i] < '0' || map[i] > '2') return false;
        if (map[i] == '0') to.free |= quorum::only_slot(i);
        if (map[i] == '2') to.ours |= quorum::only_slot(i);
    }
    return true;
}

constexpr char const* no_number = "the key of the number of permits (NAME:permits) holds something else";

// "1 COUNTER MAP VERSION" or "0 HW MAP VERSION"; any other code with a number that belongs to it.
reply to_permits(std::string_view text)
{
    auto const code = number_in(next_word(text));
    auto const number = number_in(next_word(text));
    if (!code || !number || *number < 0) return unexpected();
    slots_answer said;
    if (*code == semaphore_other_permits) {
        auto const version = number_in(next_word(text));
        if (!version || *version < 1 || *number < 1 || *number > std::int64_t{UINT32_MAX}) return unexpected();
        said.version = static_cast<std::uint64_t>(*version);
        said.permits = static_cast<std::uint32_t>(*number);
        reply r{vote::failed, errc::permits_differ, "it keeps " + std::to_string(*number)};
        r.set_slots(said);
        return r;
    }
    if (*code != 0 && *code != 1) {
        reply r = to_reply(code);
        if (*code == fence_no_counter) r.set_words(no_number);
        if (r.error == errc::ttl_too_long) r.set_words("this node allows up to " + std::to_string(*number) + " ms");
        return r;
    }
    bool const is_map = read_map(next_word(text), said);
    auto const version = number_in(next_word(text));
    bool const granted = *code == 1;
    if (!is_map || !version || *version < 1 || (granted && (*number == 0 || said.ours == 0))) return unexpected();
    said.version = static_cast<std::uint64_t>(*version);
    reply r{granted ? vote::granted : vote::refused, {}, {}};
    r.counter = static_cast<quorum::token_number>(*number);
    r.set_slots(said);
    return r;
}

// "CODE K VERSION" of keep, and "K VERSION MAP" of look.
reply to_number_of_permits(verb of, std::string_view text)
{
    auto const code = of == verb::keep ? number_in(next_word(text)) : std::optional<std::int64_t>{1};
    auto const permits = number_in(next_word(text), std::int64_t{UINT32_MAX});
    auto const version = number_in(next_word(text));
    slots_answer said;
    if (!code || !permits || !version || *permits < 0 || *version < 0 || !read_map(text, said)) return unexpected();
    reply r = to_reply(code);
    if (code == fence_no_counter) r.set_words(no_number);
    if (r.vote == vote::failed) return r;
    said.permits = static_cast<std::uint32_t>(*permits);
    said.version = static_cast<std::uint64_t>(*version);
    r.set_slots(said);
    return r;
}

}  // namespace

reply to_reply_of_permits(verb of, std::string_view text)
{
    return of == verb::acquire ? to_permits(text) : to_number_of_permits(of, text);
}

}  // namespace redlock::detail
