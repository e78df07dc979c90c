#include "redis/fence_scripts.hpp"

namespace redlock::detail {

namespace {

// What the scripts have in common:
//
// - MGET answers nil for a key of another type. So a lock that looks free is taken with NX, and a counter that looks missing is
//   written with NX: what somebody else has under our names stays.
// - The lock goes first, as it can be refused. Nothing is raised for an acquire that fails.
// - Numbers become text by string.format('%.0f'), as tostring gives 1.79e+15. In answers they are sent as integers; an acquire answers one text
//   of two numbers, since each element of an array costs the client as much as a whole answer.
// - A record without a high-water mark is no admission: missing counters would have nothing to read.

// The floor is capped at the server's clock plus a day, or a client whose clock is years ahead would use up the tokens. TIME is a
// call of its own, so it is asked only when the floor enters a half-day that the high-water mark has not reached. To enter one a
// floor must be within half a day of the clock, and inside it stays below its end: less than a day ahead in all. ("Up to hw + a
// day" would not do: clocks that are each a little less than a day ahead of the last could climb without end.)
//
// tonumber of anything but a number is nil: a counter that is not one.
//
// Locks of one call are acquired one after the other: each finds the high-water mark as the one before has left it. Where a name stands in a
// call twice, the second is refused by NX.
constexpr std::string_view acquire_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, all = s[1], tonumber(s[2])
local maxttl = node and tonumber(string.sub(node, 59, 68))
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then all = '-1 0'
elseif tonumber(ARGV[2]) > maxttl then all = string.format('-3 %.0f', maxttl) end
if all then return all .. string.rep(' ' .. all, (#KEYS - 4) / 2) end
local ttl, block, retention, base = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(string.sub(node, 42, 57))
local top, top_text, limit, answers = hw, nil, nil, {}
for k = 3, #KEYS, 2 do
  local holder, fence, value, answer = s[k], s[k + 1], ARGV[k + 2]
  local counter = tonumber(fence or top)
  if not counter then answer = '-4 0'
  elseif holder then answer = string.format(holder == value and '1 %.0f' or '0 %.0f', counter)
  else
    local last, floor = math.max(counter, base), tonumber(ARGV[k + 3])
    local token, text = last + block
    if floor > token then
      if floor - floor % 43200000000 > top then limit = limit or tonumber(call('TIME')[1]) * 1000000 + 43200000000 end
      if floor - floor % 43200000000 <= top or floor <= limit then token, text = floor, ARGV[k + 3] end
    end
    text = text or string.format('%.0f', token)
    if not (token > last and token < 9007199254740992) then answer = '-5 0'
    elseif not call('SET', KEYS[k], value, 'NX', 'PX', ttl) then answer = string.format('0 %.0f', counter)
    elseif not call('SET', KEYS[k + 1], text, fence and 'XX' or 'NX', 'PX', retention) then
      call('DEL', KEYS[k])
      answer = '-4 0'
    else
      answer = '1 ' .. text
      if token > top then top, top_text = token, text end
    end
  end
  answers[(k - 1) / 2] = answer
end
if top_text then call('SET', KEYS[2], top_text) end
return table.concat(answers, ' '))lua";

// The base is in the guard for nodes that came back with an older state; see the proof.
constexpr std::string_view confirm_text = R"lua(local s = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local fence, node, hw = s[2], s[3], tonumber(s[4])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return -1 end
if s[1] ~= ARGV[2] then return 0 end
local counter, token = tonumber(fence or hw), tonumber(ARGV[3])
if not counter then return -4 end
if counter > token or tonumber(string.sub(node, 42, 57)) > token then return -2 end
if not redis.call('SET', KEYS[2], ARGV[3], fence and 'XX' or 'NX', 'PX', ARGV[4]) then return -4 end
if token > hw then redis.call('SET', KEYS[4], ARGV[3]) end
return 1)lua";

// Several locks, one token. To each of them this is what acquire_text does, with a floor: the step above the largest counter. It is
// no more if some lock had another counter than the answer says; so a repeated call is refused unless the counters still agree, and
// one that finds only some of its locks is refused too.
//
// What looked missing is written first: when NX refuses something foreign there, nothing was raised yet, and what was set goes again.
constexpr std::string_view acquire_several_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw = s[1], tonumber(s[2])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return '-1 0' end
local maxttl = tonumber(string.sub(node, 59, 68))
local value, ttl, retention = ARGV[2], ARGV[3], ARGV[6]
if tonumber(ttl) > maxttl then return string.format('-3 %.0f', maxttl) end
local held, ours, even, counter = 0, 0, true
for k = 3, #KEYS, 2 do
  local c = tonumber(s[k + 1] or hw)
  if not c then return '-4 0' end
  if counter and c ~= counter then even = false end
  if not counter or c > counter then counter = c end
  if s[k] then held = held + 1 end
  if s[k] == value then ours = ours + 1 end
end
if held > 0 then return string.format(ours == (#KEYS - 2) / 2 and even and '1 %.0f' or '0 %.0f', counter) end
local last, floor = math.max(counter, tonumber(string.sub(node, 42, 57))), tonumber(ARGV[4])
local token, text = last + tonumber(ARGV[5])
if floor > token and (floor - floor % 43200000000 <= hw
    or floor <= tonumber(call('TIME')[1]) * 1000000 + 43200000000) then
  token, text = floor, ARGV[4]
else
  text = string.format('%.0f', token)
end
if not (token > last and token < 9007199254740992) then return redis.error_reply('FENCE tokens are used up') end
for i = 3, #KEYS do
  local lock = i % 2 == 1
  if not s[i] and not call('SET', KEYS[i], lock and value or text, 'NX', 'PX', lock and ttl or retention) then
    for j = 3, i - 1 do
      if not s[j] then call('DEL', KEYS[j]) end
    end
    if lock then return string.format('0 %.0f', counter) end
    return '-4 0'
  end
end
for k = 4, #KEYS, 2 do
  if s[k] then call('SET', KEYS[k], text, 'PX', retention) end
end
if token > hw then call('SET', KEYS[2], text) end
return '1 ' .. text)lua";

constexpr std::string_view confirm_several_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw = s[1], tonumber(s[2])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return -1 end
for k = 3, #KEYS, 2 do
  if s[k] ~= ARGV[2] then return 0 end
end
local token, counter = tonumber(ARGV[3]), tonumber(string.sub(node, 42, 57))
for k = 4, #KEYS, 2 do
  local c = tonumber(s[k] or hw)
  if not c then return -4 end
  if c > counter then counter = c end
end
if counter > token then return -2 end
for k = 4, #KEYS, 2 do
  if not s[k] and not call('SET', KEYS[k], ARGV[3], 'NX', 'PX', ARGV[4]) then
    for j = 4, k - 2, 2 do
      if not s[j] then call('DEL', KEYS[j]) end
    end
    return -4
  end
end
for k = 4, #KEYS, 2 do
  if s[k] then call('SET', KEYS[k], ARGV[3], 'PX', ARGV[4]) end
end
if token > hw then call('SET', KEYS[2], ARGV[3]) end
return 1)lua";

// One lock may stand in a call twice, and then the second lease sees what was read before the first one wrote. It cannot plant
// (NX), and extends only what has its value.
//
// Several locks of one lease are extended, and recreated again, each for itself, also where another of them is refused and the node
// is no vote: each lock is guarded by its own counter, and to it this is an extension whose answer got lost.
constexpr std::string_view extend_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, answers = s[1], tonumber(s[2]), {}
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then
  for i = 1, (#KEYS - 2) / 2 do answers[i] = -1 end
  return answers
end
local base, maxttl = tonumber(string.sub(node, 42, 57)), tonumber(string.sub(node, 59, 68))
local retention, recreate, refresh = ARGV[2], ARGV[3] == '1', ARGV[4] == '1'
local top, top_text, last_ttl, too_long = hw
local a = 5
for k = 3, #KEYS, 2 do
  local holder, fence, value, text, ttl = s[k], s[k + 1], ARGV[a], ARGV[a + 1], ARGV[a + 2]
  local token, answer = tonumber(text), 0
  local counter = fence == text and token or tonumber(fence or hw)
  if ttl ~= last_ttl then last_ttl, too_long = ttl, tonumber(ttl) > maxttl end
  if too_long then answer = -3
  elseif holder and holder ~= value then answer = 0
  elseif not counter then answer = -4
  elseif counter > token or base > token then answer = -2
  elseif holder then
    call('PEXPIRE', KEYS[k], ttl)
    answer = 1
  elseif recreate and call('SET', KEYS[k], value, 'NX', 'PX', ttl) then answer = 2
  end
  if answer > 0 and fence == text then
    if refresh then call('PEXPIRE', KEYS[k + 1], retention) end
  elseif answer > 0 and call('SET', KEYS[k + 1], text, fence and 'XX' or 'NX', 'PX', retention) then
    if token > top then top, top_text = token, text end
  elseif answer > 0 then
    if answer == 2 then call('DEL', KEYS[k]) end
    answer = -4
  end
  answers[(k - 1) / 2] = answer
  a = a + 3
end
if top_text then call('SET', KEYS[2], top_text) end
return answers)lua";

// One section at a time, as older servers want it. What the server's rules forbid leaves an empty answer.
constexpr std::string_view inspect_text = R"lua(local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local function field(text, name) return string.match(text, '\n' .. name .. ':([^\r\n]*)') or '' end
local replication, memory, time = info('replication'), info('memory'), redis.call('TIME')
local s = redis.call('MGET', KEYS[1], KEYS[2])
return {field(replication, 'master_replid'), field(replication, 'role'), time[1], time[2], s[1] or '', s[2] or '',
  field(info('server'), 'redis_version'), field(info('cluster'), 'cluster_enabled'),
  field(memory, 'maxmemory'), field(memory, 'maxmemory_policy'), field(info('persistence'), 'aof_enabled')})lua";

// These two are rare, and look at the server themselves. The mark ends with the time, so that the same request, should it be executed once
// more after another loss, makes another mark: who has waited for the first one has not waited for that (docs/proof.md, "The wait").
constexpr std::string_view mark_text = R"lua(local info = redis.call('INFO', 'replication')
if string.match(info, 'master_replid:(%x+)') ~= ARGV[1] or not string.find(info, 'role:master', 1, true) then return {-1, ''} end
local node = redis.call('GET', KEYS[1]) or string.rep('0', 40) .. ' 0000000000000000 0000000000 -'
local id, mark = string.match(node, '^(%x+) %d+ %d+ ([%w-]+)$')
if not id then return redis.error_reply('FENCE the key of the node record holds something else') end
if id == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 1 then return {2, ''} end
if mark ~= '-' then return {0, mark} end
local time = redis.call('TIME')
mark = ARGV[2] .. '-' .. time[1] .. '-' .. time[2]
redis.call('SET', KEYS[1], string.sub(node, 1, 69) .. mark)
return {1, mark})lua";

constexpr std::string_view admit_text = R"lua(local info = redis.call('INFO', 'replication')
if string.match(info, 'master_replid:(%x+)') ~= ARGV[1] or not string.find(info, 'role:master', 1, true) then return -1 end
local node, hw = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
if not node then return 0 end
local id, base, maxttl, mark = string.match(node, '^(%x+) (%d+) (%d+) ([%w-]+)$')
if not id then return redis.error_reply('FENCE the key of the node record holds something else') end
if id == ARGV[1] and hw then return 2 end
if mark == '-' or mark ~= ARGV[4] then return 0 end
base = math.max(tonumber(base), tonumber(hw or '0'), tonumber(ARGV[2]))
maxttl = math.max(tonumber(maxttl), tonumber(ARGV[3]))
if #ARGV[1] ~= 40 or not (base >= 0 and base < 9007199254740991 and maxttl > 0 and maxttl < 10000000000) then
  return redis.error_reply('FENCE the id, the base or the ttl cannot be kept')
end
redis.call('SET', KEYS[1], ARGV[1] .. string.format(' %016.0f %010.0f -', base, maxttl))
redis.call('SET', KEYS[2], string.format('%.0f', base))
return 1)lua";

}  // namespace

script const& fence_acquire_script()
{
    static script const s = make_script(acquire_text);
    return s;
}

script const& fence_confirm_script()
{
    static script const s = make_script(confirm_text);
    return s;
}

script const& fence_acquire_several_script()
{
    static script const s = make_script(acquire_several_text);
    return s;
}

script const& fence_confirm_several_script()
{
    static script const s = make_script(confirm_several_text);
    return s;
}

script const& fence_extend_script()
{
    static script const s = make_script(extend_text);
    return s;
}

script const& inspect_script()
{
    static script const s = make_script(inspect_text);
    return s;
}

script const& mark_script()
{
    static script const s = make_script(mark_text);
    return s;
}

script const& admit_script()
{
    static script const s = make_script(admit_text);
    return s;
}

}  // namespace redlock::detail
