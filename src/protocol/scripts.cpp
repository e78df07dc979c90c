#include "protocol/scripts.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace redlock::detail {

namespace {

// pcall: GET answers WRONGTYPE for a key of another type (a hash of another library), which is somebody else's lock. That error must not
// abort the script, or the other leases of the call would fail with it. Any other error tells nothing of the key: the same command, called once more
// without pcall, ends the script with it.
constexpr std::string_view extend_text = R"lua(local answers = {}
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  if value == ARGV[2 * i - 1] then
    answers[i] = redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
  else
    if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[i]) end
    answers[i] = 0
  end
end
return answers)lua";

constexpr std::string_view release_text =
    R"lua(local value = redis.pcall('GET', KEYS[1])
if value == ARGV[1] then return redis.call('DEL', KEYS[1]) end
if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[1]) end
return 0)lua";

// The answer is one text with a digit for each lock: 1 if its key was deleted, 0 if not. An array would cost the client more to read.
constexpr std::string_view release_many_text = R"lua(local answers = {}
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  if value == ARGV[i] then
    answers[i] = redis.call('DEL', KEYS[i])
  else
    if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[i]) end
    answers[i] = 0
  end
end
return table.concat(answers))lua";

// EXISTS counts keys of any type. The clock stands still in a script, so no key comes or goes between EXISTS and SET. The last OK is the answer.
constexpr std::string_view acquire_several_text = R"lua(local ok
for i = 1, #KEYS do
  if redis.call('EXISTS', KEYS[i]) > 0 then return false end
end
for i = 1, #KEYS do ok = redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
return ok)lua";

constexpr std::string_view release_several_text = R"lua(local deleted = 0
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[i]) end
  if value == ARGV[1] then deleted = deleted + redis.call('DEL', KEYS[i]) end
end
return deleted == #KEYS and 1 or 0)lua";

// GET answers false for a missing key, which is no value of ours.
constexpr std::string_view adopt_text = R"lua(local found
for i = 1, #KEYS do
  local value = redis.pcall('GET', KEYS[i])
  if type(value) == 'table' and not string.find(value.err, 'WRONGTYPE', 1, true) then redis.call('GET', KEYS[i]) end
  if value ~= ARGV[1] and value ~= ARGV[2] or found and value ~= found then return 0 end
  found = value
end
for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[2], 'PX', ARGV[3]) end
return 1)lua";

std::string sha1_hex(std::string_view text)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (EVP_Digest(text.data(), text.size(), digest.data(), &length, EVP_sha1(), nullptr) != 1)
        throw std::runtime_error{"redlock: OpenSSL offers no SHA-1, which names scripts on Redis servers"};
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    for (unsigned i = 0; i < length; ++i) {
        hex += digits[digest[i] >> 4];
        hex += digits[digest[i] & 15];
    }
    return hex;
}

}  // namespace

script make_script(std::string_view text) { return {text, sha1_hex(text)}; }

script const& lasting_script(std::string_view text) { return *new script{make_script(text)}; }

script const& extend_script()
{
    static script const& s = lasting_script(extend_text);
    return s;
}

script const& release_script()
{
    static script const& s = lasting_script(release_text);
    return s;
}

script const& release_many_script()
{
    static script const& s = lasting_script(release_many_text);
    return s;
}

script const& acquire_several_script()
{
    static script const& s = lasting_script(acquire_several_text);
    return s;
}

script const& release_several_script()
{
    static script const& s = lasting_script(release_several_text);
    return s;
}

script const& adopt_script()
{
    static script const& s = lasting_script(adopt_text);
    return s;
}

}  // namespace redlock::detail
