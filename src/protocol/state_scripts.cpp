#include "protocol/state_scripts.hpp"

namespace redlock::detail {

namespace {

// What fence_scripts.cpp says of its scripts holds here, too: the base is compared for nodes that came back with older data, and a counter with the mark
// of a climb may be above the guard of the lease that has climbed. A state is written with NX or XX, so that a key of another type stays.
constexpr std::string_view publish_text = R"lua(local s = redis.call('MGET', unpack(KEYS))
local fence, node, hw, old = s[2], s[3], tonumber(s[4]), s[5]
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return -1 end
if s[1] ~= ARGV[2] then return 0 end
local counter, guard = tonumber(fence or hw), tonumber(ARGV[3])
if not counter then return -4 end
local marked = fence and string.sub(fence, -2) == '.0'
if tonumber(string.sub(node, 42, 57)) > guard or counter > guard and not marked then return -2 end
if old then
  local rank, number = string.match(old, '^(%d+) (%d+) ')
  rank, number = tonumber(rank), tonumber(number)
  if not rank then return -7 end
  if rank > guard then return -2 end
  local asked = tonumber(ARGV[5])
  if rank > asked or rank == asked and number > tonumber(ARGV[6]) then return 1 end
end
local text = ARGV[5] .. ' ' .. ARGV[6] .. ' ' .. ARGV[7]
if not redis.call('SET', KEYS[5], text, old and 'XX' or 'NX', 'PX', ARGV[4]) then return -7 end
return 1)lua";

constexpr std::string_view inherit_text = R"lua(local s = redis.call('MGET', unpack(KEYS))
local fence, node, hw, state = s[2], s[3], tonumber(s[4]), s[5]
if not node or not hw or string.sub(node, 1, 40) ~= ARGV[1] then return {-1, ''} end
if s[1] ~= ARGV[2] then return {0, ''} end
local counter, guard = tonumber(fence or hw), tonumber(ARGV[3])
if not counter then return {-4, ''} end
local marked = fence and string.sub(fence, -2) == '.0'
if tonumber(string.sub(node, 42, 57)) > guard or counter > guard and not marked then return {-2, ''} end
if counter < guard then
  if not redis.call('SET', KEYS[2], ARGV[3], fence and 'XX' or 'NX', 'PX', ARGV[4]) then return {-4, ''} end
  if guard > hw then redis.call('SET', KEYS[4], ARGV[3]) end
end
if state then redis.call('PEXPIRE', KEYS[5], ARGV[4]) end
return {1, state or ''})lua";

// pcall: GET answers an error for a key of another type, which must not keep the rest from being seen. Any other error ends the script: a lock that
// may not be read does not look free.
constexpr std::string_view peek_text = R"lua(local seen = {}
for i = 1, 2 do
  local value = redis.pcall('GET', KEYS[i])
  if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[i]) end
  seen[i] = type(value) == 'string' and value or ''
end
return {seen[1], redis.call('PTTL', KEYS[1]), seen[2]})lua";

}  // namespace

script const& state_publish_script()
{
    static script const& s = lasting_script(publish_text);
    return s;
}

script const& state_inherit_script()
{
    static script const& s = lasting_script(inherit_text);
    return s;
}

script const& state_peek_script()
{
    static script const& s = lasting_script(peek_text);
    return s;
}

}  // namespace redlock::detail
