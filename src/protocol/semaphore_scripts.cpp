#include "protocol/semaphore_scripts.hpp"

#include "protocol/fence_scripts.hpp"

#include <string>

namespace redlock::detail {

namespace {

// semaphore_scripts.hpp says what each script does, and lists its KEYS, ARGV and answers. What fence_scripts.cpp says of its scripts holds here, too.
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

}  // namespace redlock::detail
