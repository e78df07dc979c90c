#include "node/fence_scripts.hpp"

namespace redlock::detail {

namespace {

// What the scripts have in common:
//
// - MGET answers nil for a key of another type. So a lock that looks free is taken with NX, and a counter that looks missing is
//   written with NX: what is there under our name, and is not ours, stays.
// - The lock goes first, as it can be refused. Nothing is raised for an acquire that fails.
// - Numbers become text by string.format('%.0f'), as tostring gives 1.79e+15. In answers they are sent as integers.
// - A mark that is missing beside a record would let missing counters read as nothing, so that node is not admitted.

// The floor is capped at the server's clock plus a day, or a client whose clock is years ahead would use up the tokens. TIME is a
// call of its own, so it is asked only when the floor enters a half-day that the high-water mark has not reached. To enter one a
// floor must be within half a day of the clock, and inside it stays below its end: less than a day ahead in all. ("Up to hw + a
// day" would not do: clocks that are each a little less than a day ahead of the last could climb without end.)
//
// tonumber of anything but a number is nil: a counter that is not one.
constexpr std::string_view acquire_text = R"lua(local s = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local holder, fence, node, hw = s[1], s[2], s[3], tonumber(s[4])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return {-1, 0, 0} end
local maxttl = tonumber(string.sub(node, 59, 68))
if tonumber(ARGV[3]) > maxttl then return {-3, maxttl, 0} end
local counter = tonumber(fence or hw)
if not counter then return {-4, 0, 0} end
if holder then
  if holder == ARGV[2] then return {1, counter, 0} end
  return {0, counter, redis.call('PTTL', KEYS[1])}
end
local last, floor = math.max(counter, tonumber(string.sub(node, 42, 57))), tonumber(ARGV[4])
local token, text = last + tonumber(ARGV[5])
if floor > token and (floor - floor % 43200000000 <= hw
    or floor <= tonumber(redis.call('TIME')[1]) * 1000000 + 43200000000) then
  token, text = floor, ARGV[4]
else
  text = string.format('%.0f', token)
end
if not (token > last and token < 9007199254740992) then return redis.error_reply('FENCE tokens are used up') end
if not redis.call('SET', KEYS[1], ARGV[2], 'NX', 'PX', ARGV[3]) then
  return {0, counter, redis.call('PTTL', KEYS[1])}
end
if fence then
  redis.call('SET', KEYS[2], text, 'PX', ARGV[6])
elseif not redis.call('SET', KEYS[2], text, 'NX', 'PX', ARGV[6]) then
  redis.call('DEL', KEYS[1])
  return {-4, 0, 0}
end
if token > hw then redis.call('SET', KEYS[4], text) end
return {1, token, 0})lua";

// The base is in the guard for nodes that came back with an older state; see the proof.
constexpr std::string_view confirm_text = R"lua(local s = redis.call('MGET', KEYS[1], KEYS[2], KEYS[3], KEYS[4])
local fence, node, hw = s[2], s[3], tonumber(s[4])
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return -1 end
if s[1] ~= ARGV[2] then return 0 end
local counter, token = tonumber(fence or hw), tonumber(ARGV[3])
if not counter then return -4 end
if counter > token or tonumber(string.sub(node, 42, 57)) > token then return -2 end
if fence then
  redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
elseif not redis.call('SET', KEYS[2], ARGV[3], 'NX', 'PX', ARGV[4]) then
  return -4
end
if token > hw then redis.call('SET', KEYS[4], ARGV[3]) end
return 1)lua";

// One lock may stand in a call twice, and then the second lease sees what was read before the first one wrote. It cannot plant
// (NX), and extends only what has its value.
constexpr std::string_view extend_text = R"lua(local call, KEYS, ARGV = redis.call, KEYS, ARGV
local s = call('MGET', unpack(KEYS))
local node, hw, answers = s[1], tonumber(s[2]), {}
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then
  for i = 1, (#KEYS - 2) / 2 do answers[i] = -1 end
  return answers
end
local base, maxttl = tonumber(string.sub(node, 42, 57)), tonumber(string.sub(node, 59, 68))
local retention, replant, top, top_text = ARGV[2], ARGV[3] == '1', hw
local last_ttl, too_long
local a = 4
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
  elseif replant and call('SET', KEYS[k], value, 'NX', 'PX', ttl) then answer = 2
  end
  if answer > 0 then
    if fence == text then
      if retention ~= '0' then call('PEXPIRE', KEYS[k + 1], retention) end
    else
      RAISE
    end
  end
  answers[(k - 1) / 2] = answer
  a = a + 3
end
if top_text then call('SET', KEYS[2], top_text) end
return answers)lua";

}  // namespace
}
