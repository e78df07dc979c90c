#include "protocol/fence_scripts.hpp"

namespace redlock::detail {

namespace {

// fence_scripts.hpp says what each script does, and lists its KEYS, ARGV and answers. The scripts have in common:
//
// - MGET answers nil for a key of another type. So a lock that looks free is taken with NX, and a counter that looks missing is
//   written with NX: keys of other users under our names stay as they are.
// - The lock is written before the counter, since SET of the lock can be refused. No counter is raised for an acquire that fails.
// - Numbers become text by string.format('%.0f'), since tostring gives 1.79e+15. In answers they are sent as integers; only an acquire answers a
//   text of two numbers, since each element of an array costs the client as much as a whole answer.
// - A record without a high-water mark is no admission: a missing counter reads as the high-water mark.
// - New tokens are above ABOVE of the record as well, which most records do not have: they are 70 characters long then.

// A client gives a lower bound for its token, made of its clock. Bounds must stay less than a day ahead of the server's clock: otherwise a client whose
// clock is years ahead would use up the tokens. The script divides time into half-days. A bound in a half-day that the high-water mark has reached
// counts at once; to enter a later half-day, a bound must be within half a day of the server's clock. Only then the script calls TIME, which costs
// something. (To allow bounds "up to the high-water mark plus a day" would be wrong: clients with clocks that are each a little less than a day
// ahead of the last could climb without end.)
//
// tonumber returns nil for anything but a number, so nil means that the counter's key holds something else.
//
// Locks of one call are acquired one after the other: `top` is the high-water mark as the lock before has left it. If a name stands in a call twice,
// NX refuses the second.
constexpr std::string_view acquire_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, all = s[1], tonumber(s[2])
local maxttl = node and tonumber(string.sub(node, 59, 68))
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then all = '-1 0'
elseif tonumber(ARGV[2]) > maxttl then all = string.format('-3 %.0f', maxttl) end
if all then return all .. string.rep(' ' .. all, (#KEYS - 4) / 2) end
local ttl, block, retention, base = ARGV[2], tonumber(ARGV[3]), ARGV[4], tonumber(string.sub(node, 42, 57))
if #node > 70 then base = math.max(base, tonumber(string.sub(node, 72)) or 0) end
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

// The token is also compared with the base, for nodes that came back with an older state; see docs/proof.md.
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

// Several locks, one token. For each lock this does what acquire_text does with a lower bound: the largest counter of all locks plus the block. For a
// repeated call that holds only if each lock has the counter that the answer names. So a repeated call is refused if the counters differ, and also
// if only some of the locks are the caller's.
//
// Keys that looked missing are written first, with NX. If NX refuses one because of a foreign key, no counter was raised yet, and the script deletes
// the keys that it has set.
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
if #node > 70 then counter = math.max(counter, tonumber(string.sub(node, 72)) or 0) end
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

// One lock may stand in a call twice. The second lease then sees values that were read before the first one wrote. That is harmless: NX keeps it from
// setting the key, and it extends only a key with its own value.
//
// Several locks of one lease are extended, or set again, each on its own, even if another of them is refused and the node gives no vote. That is
// safe: each lock has the guard of its own counter, and for that lock this is an extension whose answer got lost. The same holds for a climb.
//
// "N.0" in a counter is the mark of a climb (docs/proof.md, S38). A request that sets a lock with a token writes its counter without the mark.
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
  local guard, answer = tonumber(text), 0
  local counter = fence == text and guard or tonumber(fence or hw)
  local marked = counter and counter > guard and holder and fence and string.sub(fence, -2) == '.0'
  if ttl ~= last_ttl then last_ttl, too_long = ttl, tonumber(ttl) > maxttl end
  if too_long then answer = -3
  elseif holder and holder ~= value then answer = 0
  elseif not counter then answer = -4
  elseif base > guard or counter > guard and not marked then answer = -100 - math.max(counter, base)
  elseif holder then
    call('PEXPIRE', KEYS[k], ttl)
    answer = 1
  elseif recreate and call('SET', KEYS[k], value, 'NX', 'PX', ttl) then answer = 2
  end
  if answer > 0 and (marked or fence == text) then
    if refresh then call('PEXPIRE', KEYS[k + 1], retention) end
  elseif answer > 0 and call('SET', KEYS[k + 1], text, fence and 'XX' or 'NX', 'PX', retention) then
    if guard > top then top, top_text = guard, text end
  elseif answer > 0 then
    if answer == 2 then call('DEL', KEYS[k]) end
    answer = -4
  end
  answers[(k - 1) / 2] = answer
  a = a + 3
end
if top_text then call('SET', KEYS[2], top_text) end
return answers)lua";

// A second confirm, under a guard that is not the token. It looks at the ttl as an acquire does: an admission waits for climbs as it waits for
// attempts, for the largest ttl that nodes allow. `top` is the high-water mark as the lock before has left it.
constexpr std::string_view climb_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, answers = s[1], tonumber(s[2]), {}
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then
  for i = 1, (#KEYS - 2) / 2 do answers[i] = -1 end
  return answers
end
local base, maxttl = tonumber(string.sub(node, 42, 57)), tonumber(string.sub(node, 59, 68))
local top, top_text = hw
local a = 3
for k = 3, #KEYS, 2 do
  local fence, text, answer = s[k + 1], ARGV[a + 2], 1
  local guard, goal, counter = tonumber(ARGV[a + 1]), tonumber(text), tonumber(fence or top)
  local marked = counter and counter <= goal and fence and string.sub(fence, -2) == '.0'
  if tonumber(ARGV[a + 3]) > maxttl then answer = -3
  elseif s[k] ~= ARGV[a] then answer = 0
  elseif not counter then answer = -4
  elseif base > guard or counter > guard and not marked then answer = -2
  elseif not call('SET', KEYS[k + 1], text .. '.0', fence and 'XX' or 'NX', 'PX', ARGV[2]) then answer = -4
  elseif goal > top then top, top_text = goal, text end
  answers[(k - 1) / 2] = answer
  a = a + 4
end
if top_text then call('SET', KEYS[2], top_text) end
return answers)lua";

// Counters are written before locks, those that looked missing first, as in confirm_several_text: if one of their keys holds something else, nothing has
// changed. A repeated call is told by the new value: only an adoption writes it into a key, so the key was there ever since.
constexpr std::string_view adopt_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw = s[1], tonumber(s[2])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return -1 end
if tonumber(ARGV[5]) > tonumber(string.sub(node, 59, 68)) then return -3 end
local found, guard = s[3], tonumber(ARGV[4])
local counter, raised = 0, guard + 1
if found ~= ARGV[2] and found ~= ARGV[3] then return 0 end
for k = 5, #KEYS, 2 do
  if s[k] ~= found then return 0 end
end
if tonumber(string.sub(node, 42, 57)) > guard then return -2 end
for k = 4, #KEYS, 2 do
  local c = tonumber(s[k] or hw)
  if not c then return -4 end
  if c > counter then counter = c end
end
if counter > (found == ARGV[3] and raised or guard) then return -2 end
if not (raised < 9007199254740992) then return redis.error_reply('FENCE tokens are used up') end
local text = string.format('%.0f', raised)
for k = 4, #KEYS, 2 do
  if not s[k] and not call('SET', KEYS[k], text, 'NX', 'PX', ARGV[6]) then
    for j = 4, k - 2, 2 do
      if not s[j] then call('DEL', KEYS[j]) end
    end
    return -4
  end
end
for k = 4, #KEYS, 2 do
  if s[k] then call('SET', KEYS[k], text, 'PX', ARGV[6]) end
end
if raised > hw then call('SET', KEYS[2], text) end
for k = 3, #KEYS, 2 do call('SET', KEYS[k], ARGV[3], 'PX', ARGV[5]) end
return 1)lua";

}  // namespace

script const& fence_acquire_script()
{
    static script const& s = lasting_script(acquire_text);
    return s;
}

script const& fence_confirm_script()
{
    static script const& s = lasting_script(confirm_text);
    return s;
}

script const& fence_acquire_several_script()
{
    static script const& s = lasting_script(acquire_several_text);
    return s;
}

script const& fence_confirm_several_script()
{
    static script const& s = lasting_script(confirm_several_text);
    return s;
}

script const& fence_extend_script()
{
    static script const& s = lasting_script(extend_text);
    return s;
}

script const& fence_climb_script()
{
    static script const& s = lasting_script(climb_text);
    return s;
}

script const& fence_adopt_script()
{
    static script const& s = lasting_script(adopt_text);
    return s;
}

}  // namespace redlock::detail
