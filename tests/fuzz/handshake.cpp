// Any bytes as the answers to a handshake, or the right ones with some of them replaced. It ends in an objection, with words, or
// in facts: never in an exception, and never in silence about a server that cannot be a node.
#include "wire.hpp"

#include "node/connection/handshake.hpp"
#include "secret.hpp"

namespace redlock::fuzz {
namespace {

using detail::handshake;
using resp3::type;
using question = handshake::question;

std::string bulk(std::string_view s) { return '$' + std::to_string(s.size()) + "\r\n" + std::string{s} + "\r\n"; }

std::string right_answer(handshake::call const& call, input& in)
{
    constexpr std::array modes{"standalone", "standalone", "cluster", "sentinel"};
    constexpr std::array roles{"master", "master", "replica", ""};
    constexpr std::array policies{"noeviction", "allkeys-lru"};
    switch (call.is) {
    case question::hello:
    case question::greeting:
        return "%3\r\n" + bulk("server") + bulk("redis") + bulk("mode") + bulk(in.one_of(modes)) + bulk("role") + bulk(in.one_of(roles));
    case question::demand: return bulk(call.expected);
    case question::wish: return "+OK\r\n";
    case question::wait: return ":0\r\n";
    case question::rights: return bulk(in.below(4) == 0 ? " +get" : "");
    case question::info:
        return bulk("# Memory\r\nmaxmemory:" + std::to_string(in.below(2)) + "\r\nmaxmemory_policy:" + in.one_of(policies) +
                    "\r\nrun_id:" + std::string{server_id} + "\r\n");
    case question::inspection: break;
    }
    std::string const record = std::string{server_id} + " 0000000000000007 0000060000 -";
    return "*6\r\n" + bulk(server_id) + bulk("master") + bulk("1") + bulk("2") +
           bulk(std::string_view{record}.substr(0, in.flag() ? record.size() : in.below(80))) + bulk("9");
}

// The k-th answer that differs is the input's own.
std::string bytes_of_a_server(handshake const& asked, input& in)
{
    std::string bytes;
    std::size_t const strange = in.below(asked.calls.size() + 1);
    for (std::size_t i = 0; i < asked.calls.size(); ++i)
        bytes += i == strange ? std::string{in.text(60)} : right_answer(asked.calls[i], in);
    return bytes;
}

bool is_error(owned_node const& n) { return n.data_type == type::simple_error || n.data_type == type::blob_error; }

// What makes an objection necessary, whatever else was answered. Where an answer has no root, nothing is known of it.
bool is_unsuitable(handshake const& asked, std::vector<answer> const& answers)
{
    std::string key, mode, role;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        owned_node const& root = answers[i].front();
        if (asked.calls[i].is == question::hello && is_error(root)) return true;
        if (asked.calls[i].is == question::rights && !is_error(root) && root.depth == 0 && root.value.starts_with(" +")) return true;
        if (asked.calls[i].is == question::demand && (is_error(root) || root.value != asked.calls[i].expected)) return true;
        if (asked.calls[i].is != question::hello || root.data_type != type::map || root.depth != 0) continue;
        std::vector<std::string> flat;
        for (owned_node const& n : answers[i])
            if (n.depth == 1) flat.push_back(n.value);
        for (std::size_t k = 0; k + 1 < flat.size(); k += 2) {
            if (flat[k] == "mode") mode = flat[k + 1];
            if (flat[k] == "role") role = flat[k + 1];
        }
    }
    return mode == "cluster" || mode == "sentinel" || (!role.empty() && role != "master");
}

void check_facts(quorum::node_facts const& facts)
{
    check(facts.admitted.empty() || facts.admitted.size() == server_id.size(), "who was admitted has the id of a server");
    check(facts.max_ttl >= quorum::duration{} && facts.max_ttl <= std::chrono::milliseconds{9'999'999'999}, "a ttl fits into its field");
    check(facts.admitted.empty() || facts.high_water < quorum::token_number{1} << 53, "tokens are below 2^53");
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock;
    using namespace redlock::fuzz;
    if (spells_the_secret(data, size)) return 0;
    input in{data, size};
    node_address address;
    address.host = "h";
    if (in.flag()) address.password = secret;
    if (in.flag()) address.database = 3;
    detail::handshake const asked{address};
    std::string const bytes = in.flag() ? bytes_of_a_server(asked, in) : std::string{in.rest()};

    wire from_server{bytes};
    detail::push_reader pushes;
    detail::handshake_reader reader{asked};
    std::vector<answer> answers;
    while (answers.size() < asked.calls.size()) {
        auto message = from_server.next();
        if (!message) return 0;
        if (wire::is_push(*message)) {
            check_push(pushes, *message);
            continue;
        }
        for (owned_node const& n : *message) reader.on_node(answers.size(), {n.data_type, n.aggregate_size, n.depth, n.value});
        answers.push_back(std::move(*message));
    }
    reader.conclude();
    auto const& against = reader.against();
    check(against.why || !is_unsuitable(asked, answers), "a server that cannot be a node is objected to");
    check(tells_the_secret(bytes) || !tells_the_secret(against.words), "an objection tells no password", against.words);
    if (!against.why) check_facts(reader.take_facts());
    return 0;
}
