#include "protocol/shared_scripts.hpp"

namespace redlock::detail {

namespace {

// shared_scripts.hpp says what each script does, and lists its KEYS, ARGV and answers. What fence_scripts.cpp says of its scripts holds here, too.
// Besides:
//
// - MGET answers nil for a sorted set. ZSCORE of the empty member tells a set of readers (a text) from another type (the error WRONGTYPE) and from a key
//   that is missing or is a sorted set of somebody else (nil); EXISTS tells these two apart. No key of somebody else is written. Any other error, as
//   that of a user without the right for ZSCORE, ends the script.
// - The counter is written before the set: SET of the counter can be refused, and ZADD to a set that was looked at cannot.
// - A name may stand in a call several times: `seen` is its counter as the lease before has left it. Sets are read where they are needed.
// - Members whose time is over are removed when somebody joins. Until then they do no harm: the key expires with the largest score.

// The reader that makes the set raises the counter. So does who joins a set while the counter is not above the base: such a set was there before the
// node lost its data and was admitted, and a writer that the node lost may have the base for its token. The epoch rises with it. Where only new tokens
// have to be larger, since the set of nodes has become smaller, the counter rises and the epoch does not: readers that are there go on.
constexpr std::string_view shared_acquire_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, all = s[1], tonumber(s[2])
local maxttl = node and tonumber(string.sub(node, 59, 68))
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then all = '-1 0'
elseif tonumber(ARGV[2]) > maxttl then all = string.format('-3 %.0f', maxttl) end
if all then return all .. string.rep(' ' .. all, (#KEYS - 5) / 3) end
local ttl, retention, base, above = tonumber(ARGV[2]), ARGV[3], tonumber(string.sub(node, 42, 57)), 0
if #node > 70 then above = tonumber(string.sub(node, 72)) or 0 end
local t = call('TIME')
local now, limit = t[1] * 1000 + math.floor(t[2] / 1000), t[1] * 1000000 + 43200000000
local ends = string.format('%.0f', now + ttl)
local top, top_text, seen, answers = hw, nil, {}, {}
for k = 3, #KEYS, 3 do
  local name, value, floor, answer = KEYS[k], ARGV[k + 1], tonumber(ARGV[k + 2])
  local counter = seen[name] or tonumber(s[k + 1] or top)
  local mark = not s[k] and redis.pcall('ZSCORE', name, '')
  if type(mark) == 'table' and not string.find(mark.err, 'WRONGTYPE', 1, true) then call('ZSCORE', name, '') end
  local epoch = type(mark) == 'string' and -1 - mark
  if not counter then answer = '-4 0'
  elseif s[k] or mark and not (epoch and epoch >= 0) or not mark and call('EXISTS', name) == 1 then
    answer = string.format('0 %.0f', counter)
  elseif s[k + 2] and tonumber(ARGV[k + 3]) ~= (epoch or counter) and not (epoch and call('ZSCORE', name, value)) then
    answer = string.format('-6 %.0f', counter)
  else
    local last = math.max(counter, base)
    local token, is_new = last, not epoch or counter <= base
    if is_new or counter <= above then
      token = math.max(last, above) + 1
      if floor > token and (floor - floor % 43200000000 <= top or floor <= limit) then token = floor end
    end
    local text = string.format('%.0f', token)
    if token >= 9007199254740992 then answer = '-5 0'
    elseif token ~= counter and not call('SET', KEYS[k + 1], text, (s[k + 1] or seen[name]) and 'XX' or 'NX', 'PX', retention) then
      answer = '-4 0'
    else
      if token > top then top, top_text = token, text end
      if epoch then call('ZREMRANGEBYSCORE', name, 0, now) end
      if is_new then call('ZADD', name, string.format('%.0f', -1 - last), '') end
      call('ZADD', name, ends, value)
      local stays = call('PTTL', name)
      if stays < ttl then call('PEXPIREAT', name, ends) end
      if token ~= counter then seen[name] = token end
      answer = '1 ' .. text
    end
  end
  answers[k / 3] = answer
end
if top_text then call('SET', KEYS[2], top_text) end
return table.concat(answers, ' '))lua";

// The comparison with the epoch is strict: a reader that joined late may have chosen the token of the writer that was before this set.
constexpr std::string_view shared_confirm_text = R"lua(local s = redis.call('MGET', KEYS[2], KEYS[3], KEYS[4])
local fence, node, hw = s[1], s[2], tonumber(s[3])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return -1 end
local mark = redis.pcall('ZSCORE', KEYS[1], '')
if type(mark) == 'table' and not string.find(mark.err, 'WRONGTYPE', 1, true) then redis.call('ZSCORE', KEYS[1], '') end
if type(mark) ~= 'string' or not redis.call('ZSCORE', KEYS[1], ARGV[2]) then return 0 end
local counter, token = tonumber(fence or hw), tonumber(ARGV[3])
if not counter then return -4 end
if -1 - mark >= token or tonumber(string.sub(node, 42, 57)) > token then return -2 end
if counter >= token then return 1 end
if not redis.call('SET', KEYS[2], ARGV[3], fence and 'XX' or 'NX', 'PX', ARGV[4]) then return -4 end
if token > hw then redis.call('SET', KEYS[4], ARGV[3]) end
return 1)lua";

// While the set is there, its epoch is in the place of the counter: no writer with a token above the epoch was granted before the set was made, and
// none is granted while it is there. The counter itself may be above the token of a reader that is to be extended, because of readers after it.
constexpr std::string_view shared_extend_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, answers = s[1], tonumber(s[2]), {}
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then
  for i = 1, (#KEYS - 2) / 2 do answers[i] = -1 end
  return answers
end
local base, maxttl = tonumber(string.sub(node, 42, 57)), tonumber(string.sub(node, 59, 68))
local retention, recreate, refresh = ARGV[2], ARGV[3] == '1', ARGV[4] == '1'
local t = call('TIME')
local now, top, top_text, seen = t[1] * 1000 + math.floor(t[2] / 1000), hw, nil, {}
local a = 5
for k = 3, #KEYS, 2 do
  local name, value, token, ttl = KEYS[k], ARGV[a], tonumber(ARGV[a + 1]), tonumber(ARGV[a + 2])
  local least, ours, answer = token + tonumber(ARGV[a + 3]), s[k] == value, 0
  local fence, counter = s[k + 1] or seen[name], seen[name] or tonumber(s[k + 1] or top)
  local mark = not s[k] and redis.pcall('ZSCORE', name, '')
  if type(mark) == 'table' and not string.find(mark.err, 'WRONGTYPE', 1, true) then call('ZSCORE', name, '') end
  local epoch = type(mark) == 'string' and -1 - mark
  if ttl > maxttl then answer = -3
  elseif s[k] and not ours or mark and not (epoch and epoch >= 0) then answer = 0
  elseif not counter then answer = -4
  elseif base > token or (epoch or counter) > token then answer = -2
  elseif ours or epoch and call('ZSCORE', name, value) then answer = 1
  elseif recreate and (epoch or call('EXISTS', name) == 0) then answer = 2
  end
  if answer > 0 and counter < least then
    local text = string.format('%.0f', least)
    if call('SET', KEYS[k + 1], text, fence and 'XX' or 'NX', 'PX', retention) then
      seen[name] = least
      if least > top then top, top_text = least, text end
    else answer = -4 end
  elseif answer > 0 and refresh then call('PEXPIRE', KEYS[k + 1], retention) end
  if answer > 0 then
    local ends = string.format('%.0f', now + ttl)
    if ours then call('DEL', name) end
    if not epoch then call('ZADD', name, string.format('%.0f', -1 - (ours and token or math.max(counter, base))), '') end
    call('ZADD', name, ends, value)
    local stays = call('PTTL', name)
    if stays < ttl then call('PEXPIREAT', name, ends) end
  end
  answers[(k - 1) / 2] = answer
  a = a + 4
end
if top_text then call('SET', KEYS[2], top_text) end
return answers)lua";

// What remains decides when the key expires: a reader that died holds a writer off until its own entry ends, and no longer.
constexpr std::string_view shared_release_text = R"lua(local call, answers = redis.call, {}
for i = 1, #KEYS do
  local name, value = KEYS[i], ARGV[i]
  local ended = redis.pcall('ZREM', name, value)
  if type(ended) == 'table' then
    if not string.find(ended.err, 'WRONGTYPE', 1, true) then call('ZREM', name, value) end
    local writer = redis.pcall('GET', name)
    if type(writer) == 'table' and not string.find(writer.err, 'WRONGTYPE', 1, true) then call('GET', name) end
    ended = writer == value and call('DEL', name) or 0
  elseif ended == 1 then
    local last = call('ZRANGE', name, -1, -1, 'WITHSCORES')
    if not last[1] or last[1] == '' then call('DEL', name)
    else call('PEXPIREAT', name, last[2]) end
  end
  answers[i] = ended
end
return table.concat(answers))lua";

constexpr std::string_view shared_want_text =
    R"lua(if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
local wish = redis.pcall('GET', KEYS[2])
if type(wish) == 'table' and not string.find(wish.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[2]) end
if type(wish) == 'table' then return 0 end
redis.call('SET', KEYS[2], ARGV[1], 'PX', ARGV[2])
return 1)lua";

}  // namespace

script const& shared_acquire_script()
{
    static script const& s = lasting_script(shared_acquire_text);
    return s;
}

script const& shared_confirm_script()
{
    static script const& s = lasting_script(shared_confirm_text);
    return s;
}

script const& shared_extend_script()
{
    static script const& s = lasting_script(shared_extend_text);
    return s;
}

script const& shared_release_script()
{
    static script const& s = lasting_script(shared_release_text);
    return s;
}

script const& shared_want_script()
{
    static script const& s = lasting_script(shared_want_text);
    return s;
}

}  // namespace redlock::detail
