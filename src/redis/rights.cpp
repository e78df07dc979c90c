#include "redis/rights.hpp"

#include <algorithm>
#include <cctype>

namespace redlock::detail {

namespace {

// A server checks permissions for commands before those for keys, so any key will do; this one never exists. The script declares no key, since a server
// that checks the keys of EVALSHA would refuse it to a user who may use only the keys of locks. The first error text is that of Redis up
// to 7.0, the second that of later releases and of Valkey.
constexpr std::string_view rights_text = R"lua(local missing = ''
local function try(name, ...)
  local answer = redis.pcall(name, 'redlock:rights', ...)
  local err = type(answer) == 'table' and answer.err or ''
  if string.find(err, "can't run this command", 1, true) or string.find(err, 'permissions to run', 1, true) then
    missing = missing .. ' +' .. string.lower(name)
  elseif string.find(err, 'Unknown Redis command', 1, true) then
    missing = missing .. ' -' .. string.lower(name)
  end
end
try('GET')
try('SET', '', 'XX')
try('DEL')
try('PEXPIRE', '1')
return missing)lua";

}  // namespace

script const& rights_script()
{
    static script const s = make_script(rights_text);
    return s;
}

bool is_unknown_command(std::string_view error) noexcept { return error.find("unknown command") != std::string_view::npos; }

std::string objection_to_missing(std::string_view commands)
{
    return "the server does not know " + std::string{commands} +
           ", without which a lock cannot be kept and released; take rename-command out of its configuration, and restart it";
}

std::optional<std::string> objection_to_rights(std::string_view answer, bool is_error)
{
    if (is_error && is_unknown_command(answer)) return objection_to_missing("EVALSHA");
    if (is_error && answer.starts_with("NOPERM")) answer = " +evalsha";
    else if (is_error) return std::nullopt;
    std::string forbidden, missing;
    while (answer.starts_with(" +") || answer.starts_with(" -")) {
        auto const word = answer.substr(1, answer.find(' ', 1) - 1);
        answer.remove_prefix(word.size() + 1);
        if (word.front() == '+') forbidden += ' ' + std::string{word};
        else missing += (missing.empty() ? "" : ", ") + std::string{word.substr(1)};
    }
    std::transform(missing.begin(), missing.end(), missing.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (!missing.empty()) return objection_to_missing(missing);
    if (forbidden.empty()) return std::nullopt;
    return "the user may not use commands without which a lock cannot be kept and released; allow it (ACL SETUSER)" + forbidden;
}

}  // namespace redlock::detail
