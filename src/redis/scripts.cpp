#include "redis/scripts.hpp"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace redlock::detail {

namespace {

// pcall: a key of another type (a hash of another library) answers WRONGTYPE, which means somebody else's. It must not
// abort the script, or it would fail the other leases of the call.
constexpr std::string_view extend_text = R"lua(local answers = {}
for i = 1, #KEYS do
  if redis.pcall('GET', KEYS[i]) == ARGV[2 * i - 1] then
    answers[i] = redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
  else
    answers[i] = 0
  end
end
return answers)lua";

constexpr std::string_view release_text =
    R"lua(if redis.pcall('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0)lua";

// One text instead of an array, which would cost the client an element a lock: a 1 for each that was deleted, and 0 for the others.
constexpr std::string_view release_many_text = R"lua(local answers = {}
for i = 1, #KEYS do
  if redis.pcall('GET', KEYS[i]) == ARGV[i] then
    answers[i] = redis.call('DEL', KEYS[i])
  else
    answers[i] = 0
  end
end
return table.concat(answers))lua";

// EXISTS counts keys of any type. The clock stands still in a script, so what was free is free; the last OK is the answer.
constexpr std::string_view acquire_several_text = R"lua(if redis.call('EXISTS', unpack(KEYS)) > 0 then return false end
local ok
for i = 1, #KEYS do ok = redis.call('SET', KEYS[i], ARGV[1], 'PX', ARGV[2]) end
return ok)lua";

constexpr std::string_view release_several_text = R"lua(local deleted = 0
for i = 1, #KEYS do
  if redis.pcall('GET', KEYS[i]) == ARGV[1] then deleted = deleted + redis.call('DEL', KEYS[i]) end
end
return deleted == #KEYS and 1 or 0)lua";

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

script const& extend_script()
{
    static script const s = make_script(extend_text);
    return s;
}

script const& release_script()
{
    static script const s = make_script(release_text);
    return s;
}

script const& release_many_script()
{
    static script const s = make_script(release_many_text);
    return s;
}

script const& acquire_several_script()
{
    static script const s = make_script(acquire_several_text);
    return s;
}

script const& release_several_script()
{
    static script const s = make_script(release_several_text);
    return s;
}

}  // namespace redlock::detail
