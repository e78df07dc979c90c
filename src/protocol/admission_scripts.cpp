#include "protocol/admission_scripts.hpp"

#include "protocol/without_loss.hpp"

namespace redlock::detail {

namespace {

// Asks for one section of INFO at a time, since older servers accept no more. A section that the user may not read gives empty answers.
// The key of the set's record is not among the KEYS, here and in the next script: a server would refuse the whole call to a user whose permissions are
// from a time when there was no such key.
//
// For how long the server has lost nothing is asked of servers that are not admitted, and were not admitted since their start: one that has a high-water
// mark and no record lost the record, and votes that it gave may still be on their way. The commands are those that can take data away, or hide that one of
// them was called, up to the versions in without_loss.cpp. A server counts them also where a script calls them, and under the names that they have without
// rename-command. Before Redis 7 all calls of CONFIG are counted together. In a Redis Cluster
// slots move: no member shows it.
constexpr std::string_view inspect_text =
    R"lua(local COMMANDS = [[flushall flushdb swapdb replicaof slaveof failover debug migrate move config config|resetstat]]
local function info(section)
  local text = redis.pcall('INFO', section)
  return type(text) == 'string' and text or ''
end
local function field(text, name) return string.match(text, '\n' .. name .. ':([^\r\n]*)') or '' end
local replication, memory, time = info('replication'), info('memory'), redis.call('TIME')
local s = redis.call('MGET', KEYS[1], KEYS[2])
local set = redis.pcall('GET', string.sub(KEYS[1], 1, -5) .. 'set')
if type(set) == 'table' then set = '!' .. string.gsub(set.err or '', '^[%-%s]+', '') end
local id, server, cluster = field(replication, 'master_replid'), info('server'), field(info('cluster'), 'cluster_enabled')
local function seconds_without_loss()
  local record, is_admitted = s[1] or '', string.find(s[1] or '', string.sub(id, 1, 25), 1, true)
  if id == '' or is_admitted or (s[2] and (record == '' or string.find(record, string.rep('0', 40), 1, true) == 1)) then return '' end
  local commands, stats = info('commandstats'), info('stats')
  for command in string.gmatch(COMMANDS, '%S+') do
    if string.find(commands, '\ncmdstat_' .. command .. ':', 1, true) then return '' end
  end
  local clean = cluster == '0' and commands ~= '' and field(stats, 'evicted_keys') == '0' and field(replication, 'second_repl_offset') == '-1'
  return clean and field(server, 'uptime_in_seconds') or ''
end
return {id, field(replication, 'role'), time[1], time[2], s[1] or '', s[2] or '',
  field(server, 'redis_version'), cluster,
  field(memory, 'maxmemory'), field(memory, 'maxmemory_policy'), field(info('persistence'), 'aof_enabled'), set or '',
  field(server, 'valkey_version'), seconds_without_loss()})lua";

// With a record of another generation, the id in the record of the admission becomes that of the new one, if the server stays a member: so what was
// begun before is refused from here on, and the admission goes on. Otherwise the node is not admitted any more, and its mark is gone.
// A number that new tokens have to be above (ABOVE in fence_keys.hpp) is written only where there is a high-water mark: a node without one has lost what
// it knew. It is checked before anything is written.
constexpr std::string_view claim_text = R"lua(local info = redis.call('INFO', 'replication')
local group = string.match(ARGV[1], '^k%d+:') or string.match(ARGV[1], '^g%x+:') or ''
local server = string.match(info, 'master_replid:(%x+)') or ''
if string.sub(group .. server, 1, 40) ~= ARGV[1] or not string.find(info, 'role:master', 1, true) then return {-1, ''} end
local key, hw_key, above = string.sub(KEYS[1], 1, -5) .. 'set', string.sub(KEYS[1], 1, -5) .. 'hw', tonumber(ARGV[5] or '0')
local hw = above > 0 and tonumber(redis.call('GET', hw_key) or '')
if above > 0 and not (hw and above < 9007199254740991) then return {-1, ''} end
local set = redis.call('GET', key) or ''
if set ~= ARGV[2] then return {set == ARGV[3] and 1 or 0, set} end
redis.call('SET', key, ARGV[3])
local binding = string.match(ARGV[3], '^v2 (g%x+:)')
local node = redis.call('GET', KEYS[1])
if binding and set ~= ARGV[3] and node and #node > 69 then
  local stays = ARGV[4] == '1' and string.sub(node, 1, 40) == ARGV[1]
  local id = stays and string.sub(binding .. server, 1, 40) or string.rep('0', 40)
  local rest = stays and string.sub(node, 70) or '-'
  if stays and above > 0 then
    rest = string.format('- %016.0f', math.max(above, tonumber(string.match(node, '^%- (%d+)$', 70) or '0')))
    if above > hw then redis.call('SET', hw_key, string.format('%.0f', above)) end
  end
  redis.call('SET', KEYS[1], id .. string.sub(node, 41, 69) .. rest)
end
return {1, ARGV[3]})lua";

// The next two scripts run rarely, so they check the server's id themselves. The mark ends with the time. So the same request, if it is executed
// once more after another loss of data, makes another mark: a client that has waited for the first mark has not waited for that one
// (docs/proof.md, "The wait").
// The id that a client gives may begin with "kKKK:" or "kKKK:cSSS:" (group_binding.hpp). A record that was made with another K or S stays as it is.
// "gNNNhhhhhh:" stands for the generation of its set, which must be that of the record of the set.
// In a cluster (cSSS) the mark also takes the id out of the record, which may come back to that server (docs/proof.md, "Slots of a Redis Cluster").
constexpr std::string_view mark_text =
    R"lua(local info, binding = redis.call('INFO', 'replication'), string.match(ARGV[1], '^g%x+:')
local group = string.match(ARGV[1], '^k[%dc:]+:') or binding or ''
local present = string.sub(group .. (string.match(info, 'master_replid:(%x+)') or ''), 1, 40)
local set = redis.pcall('GET', string.sub(KEYS[1], 1, -5) .. 'set')
local of_another = type(set) == 'string' and string.match(set, '^v2 (g%x+:)') ~= binding
if of_another or present ~= ARGV[1] or not string.find(info, 'role:master', 1, true) then return {-1, ''} end
local node = redis.call('GET', KEYS[1]) or string.rep('0', 40) .. ' 0000000000000000 0000000000 -'
local id, mark = string.match(node, '^([%x:kg]+) %d+ %d+ ([%w-]+) ?%d*$')
if not id then return redis.error_reply('FENCE the key of the node record holds something else') end
if string.match(id, '^g') and not binding then return redis.error_reply('FENCE the set of this server was changed; its user may not read redlock:set') end
if (string.match(id, '^k[%dc:]+:') or group) ~= group then return redis.error_reply('FENCE clients of this group use another number of replicas') end
if id == ARGV[1] and redis.call('EXISTS', KEYS[2]) == 1 then return {2, ''} end
if mark ~= '-' then return {0, mark} end
local time = redis.call('TIME')
mark = ARGV[2] .. '-' .. time[1] .. '-' .. time[2]
if string.match(group, '^k%d+:c') then node = string.sub(group .. string.rep('k', 40), 1, 40) .. string.sub(node, 41) end
redis.call('SET', KEYS[1], string.sub(node, 1, 69) .. mark)
return {1, mark})lua";

constexpr std::string_view admit_text =
    R"lua(local info, binding = redis.call('INFO', 'replication'), string.match(ARGV[1], '^g%x+:')
local group = string.match(ARGV[1], '^k[%dc:]+:') or binding or ''
local present = string.sub(group .. (string.match(info, 'master_replid:(%x+)') or ''), 1, 40)
local set = redis.pcall('GET', string.sub(KEYS[1], 1, -5) .. 'set')
local of_another = type(set) == 'string' and string.match(set, '^v2 (g%x+:)') ~= binding
if of_another or present ~= ARGV[1] or not string.find(info, 'role:master', 1, true) then return -1 end
local node, hw = redis.call('GET', KEYS[1]), redis.call('GET', KEYS[2])
if not node then return 0 end
local id, base, maxttl, mark = string.match(node, '^([%x:kg]+) (%d+) (%d+) ([%w-]+) ?%d*$')
if not id then return redis.error_reply('FENCE the key of the node record holds something else') end
if string.match(id, '^g') and not binding then return redis.error_reply('FENCE the set of this server was changed; its user may not read redlock:set') end
if (string.match(id, '^k[%dc:]+:') or group) ~= group then return redis.error_reply('FENCE clients of this group use another number of replicas') end
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

static_assert(inspect_text.find(commands_that_lose_data) != std::string_view::npos);

}  // namespace

script const& inspect_script()
{
    static script const& s = lasting_script(inspect_text);
    return s;
}

script const& claim_script()
{
    static script const& s = lasting_script(claim_text);
    return s;
}

script const& mark_script()
{
    static script const& s = lasting_script(mark_text);
    return s;
}

script const& admit_script()
{
    static script const& s = lasting_script(admit_text);
    return s;
}

}  // namespace redlock::detail
