#include "protocol/rights.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>

namespace redlock::detail {

namespace {

// A server checks permissions for commands before those for keys, so any key will do; this one never exists. The script declares no key, since a server
// that checks the keys of EVALSHA would refuse it to a user who may use only the keys of locks. The first error text is that of Redis up
// to 7.0, the second that of later releases and of Valkey. Valkey leaves "Redis" out of "Unknown Redis command".
constexpr std::string_view rights_text = R"lua(local missing = ''
local function try(name, ...)
  local answer = redis.pcall(name, 'redlock:rights', ...)
  local err = type(answer) == 'table' and answer.err or ''
  if string.find(err, "can't run this command", 1, true) or string.find(err, 'permissions to run', 1, true) then
    missing = missing .. ' +' .. string.lower(name)
  elseif string.find(err, 'Unknown .*command') then
    missing = missing .. ' -' .. string.lower(name)
  end
end
try('GET')
try('SET', '', 'XX')
try('DEL')
try('PEXPIRE', '1')
return missing)lua";

std::string lower_case(std::string_view text)
{
    std::string all{text};
    std::transform(all.begin(), all.end(), all.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return all;
}

// What stands between the two; empty if they are not there.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) noexcept
{
    auto const begin = text.find(before);
    if (begin == text.npos) return {};
    text.remove_prefix(begin + before.size());
    return text.substr(0, std::min(text.find(after), text.size()));
}

// Lines are counted from one. Empty if there is no such line.
std::string_view line_of(std::string_view text, std::size_t number) noexcept
{
    for (; number > 1; --number) {
        auto const end = text.find('\n');
        if (end == text.npos) return {};
        text.remove_prefix(end + 1);
    }
    return number == 1 ? text.substr(0, text.find('\n')) : std::string_view{};
}

// No line of a script calls two commands. What redis.pcall runs does not end a script.
std::string_view called_in(std::string_view line) noexcept
{
    constexpr std::string_view call = "call('";
    for (auto at = line.find(call); at != line.npos; at = line.find(call, at + 1))
        if (at == 0 || line[at - 1] != 'p') return between(line.substr(at), call, "'");
    return {};
}

}  // namespace

script const& rights_script()
{
    static script const& s = lasting_script(rights_text);
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

std::string missing_right(std::string_view error, std::span<script const* const> scripts)
{
    if (auto const named = between(error, "permissions to run the '", "'"); !named.empty()) return '+' + lower_case(named);
    if (error.find("can't run this command") == error.npos) return {};
    auto const where = between(error, "user_script:", ".");
    auto const digit = where.find_first_not_of(' ');
    std::size_t line{0};
    if (digit != where.npos) std::from_chars(where.data() + digit, where.data() + where.size(), line);
    for (script const* s : scripts) {
        if (error.find(s->sha1) == error.npos) continue;
        auto const command = called_in(line_of(s->text, line));
        return command.empty() ? "" : '+' + lower_case(command);
    }
    return {};
}

}  // namespace redlock::detail
