// Tickets whose checksum is right, whatever they have in them: each is refused, or is a ticket that a client can work on.
#include "input.hpp"

#include "core/lease/ticket.hpp"

#include <redlock/client.hpp>
#include <redlock/lease.hpp>
#include <redlock/testing.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace redlock::fuzz {
namespace {

// FNV-1a of the fields, behind them, the low byte first.
std::string with_checksum(std::string_view fields)
{
    std::uint64_t hash = 0xcbf29ce484222325;
    for (char const c : fields) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    std::string bytes{fields};
    for (unsigned i = 0; i < 8; ++i) bytes += static_cast<char>(hash >> (8 * i) & 0xff);
    return bytes;
}

std::string in_base64url(std::string_view bytes)
{
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    std::string text;
    for (std::size_t bit = 0; bit < 8 * bytes.size(); bit += 6) {
        unsigned const here = static_cast<unsigned char>(bytes[bit / 8]);
        unsigned const next = bit / 8 + 1 < bytes.size() ? static_cast<unsigned char>(bytes[bit / 8 + 1]) : 0;
        text += letters[(here << 8 | next) >> (10 - bit % 8) & 63];
    }
    return text;
}

void adopt(std::string const& text)
{
    testing::simulation nodes;
    nodes.run_for(std::chrono::seconds{1});
    std::optional<error_code> outcome;
    nodes.client().adopt(text, [&](error_code ec, lease held) {
        check(static_cast<bool>(held) == !ec, "a lease, or the reason why there is none");
        outcome = ec;
    });
    check(nodes.run_until([&] { return outcome.has_value(); }, std::chrono::hours{1}), "an adoption has an end", text);
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock::fuzz;
    input in{data, size};
    auto const text = "redlock-ticket-1." + in_base64url(with_checksum(in.rest()));
    redlock::detail::ticket read;
    if (redlock::detail::read_ticket(text, read) != redlock::errc{}) return 0;
    check(redlock::detail::to_text(read) == text, "a ticket has one spelling", text);
    adopt(text);
    return 0;
}
