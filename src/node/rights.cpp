#include "node/rights.hpp"

namespace redlock::detail {

namespace {

// Commands are judged before keys, so that it does not matter which keys the user may touch; this one is never there.
// The words are those of Redis up to 7.0, and of later ones and Valkey.
constexpr std::string_view rights_text = R"lua(local key, missing = 'redlock:rights', ''
for _, words in ipairs({{'GET', key}, {'SET', key, '', 'XX'}, {'DEL', key}, {'PEXPIRE', key, '1'}}) do
  local answer = redis.pcall(unpack(words))
  local err = type(answer) == 'table' and answer.err or ''
  if string.find(err, "can't run this command", 1, true) or string.find(err, 'permissions to run', 1, true) then
    missing = missing .. ' +' .. string.lower(words[1])
  end
end
return missing)lua";

}  // namespace

script const& rights_script()
{
    static script const s = make_script(rights_text);
    return s;
}

std::optional<std::string> objection_to_rights(std::string_view answer, bool is_error)
{
    std::string missing;
    if (is_error && answer.starts_with("NOPERM")) missing = " +evalsha";
    if (!is_error && answer.starts_with(" +")) missing = answer;
    if (missing.empty()) return std::nullopt;
    return "the user may not use commands without which a lock cannot be kept and given back; allow it (ACL SETUSER)" + missing;
}

}  // namespace redlock::detail
