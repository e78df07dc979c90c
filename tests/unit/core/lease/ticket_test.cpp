#include "core/lease/ticket.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <utility>

using namespace redlock;
using namespace redlock::detail;
using namespace std::chrono_literals;

namespace {

ticket some_ticket()
{
    ticket t;
    t.keys = {"invoices/1", "invoices/2"};
    t.text = "invoices/1, invoices/2";
    t.value = "0123456789abcdef0123456789abcdef:host:4711:1795297616:label";
    t.fenced = true;
    t.token = 1'795'297'616'470'733;
    t.last_token = t.token + 3;
    t.guard = t.token + 99;
    t.ttl = 600s;
    t.lock_delay = 5s;
    t.nodes = 5;
    t.servers = {fingerprint("a"), fingerprint("b"), 0xffffffff};
    return t;
}

ticket plain_ticket()
{
    ticket t;
    t.keys = {"x"};
    t.text = "x";
    t.value = "v";
    t.ttl = 10ms;
    t.nodes = 1;
    return t;
}

errc problem_of(std::string_view text)
{
    ticket into;
    return read_ticket(text, into);
}

bool is_bad(ticket const& t) { return problem_of(to_text(t)) == errc::invalid_ticket; }

}  // namespace

BOOST_AUTO_TEST_SUITE(tickets)

BOOST_AUTO_TEST_CASE(a_ticket_is_read_as_it_was_written)
{
    for (ticket const& t : {some_ticket(), plain_ticket()}) {
        ticket read;
        BOOST_TEST((read_ticket(to_text(t), read) == errc{}));
        BOOST_TEST((read == t));
    }
}

BOOST_AUTO_TEST_CASE(it_is_one_word_for_any_shell)
{
    auto t = some_ticket();
    for (char const c : {'\0', '\n', ' ', '"', '\'', '\\', '$', '\xff'}) t.keys.front() += c;
    t.text += t.keys.front();
    auto const text = to_text(t);
    BOOST_TEST(text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.") == text.npos);
    ticket read;
    BOOST_TEST((read_ticket(text, read) == errc{}));
    BOOST_TEST((read == t));
}

BOOST_AUTO_TEST_CASE(a_part_of_it_is_none)
{
    for (ticket const& t : {some_ticket(), plain_ticket()}) {
        auto const text = to_text(t);
        for (std::size_t size = 0; size < text.size(); ++size) {
            BOOST_TEST((problem_of(text.substr(0, size)) == errc::invalid_ticket), size);
            if (size > 0) BOOST_TEST((problem_of(text.substr(size)) == errc::invalid_ticket), size);
        }
        for (auto const& more : {text + "A", text + "\n", " " + text, text + text}) BOOST_TEST((problem_of(more) == errc::invalid_ticket));
    }
}

BOOST_AUTO_TEST_CASE(every_letter_counts)
{
    auto const text = to_text(some_ticket());
    for (std::size_t at = 0; at < text.size(); ++at) {
        for (char const other : {'A', 'B', 'a', 'z', '0', '5', '-', '_', '.', '='}) {
            if (text[at] == other) continue;
            auto altered = text;
            altered[at] = other;
            auto const problem = problem_of(altered);
            bool const is_version = altered.starts_with("redlock-ticket-5.");
            BOOST_TEST((problem == (is_version ? errc::ticket_too_new : errc::invalid_ticket)), at << " " << other);
        }
    }
}

BOOST_AUTO_TEST_CASE(a_newer_version_is_told_from_what_is_none)
{
    for (char const* text : {"redlock-ticket-2.x", "redlock-ticket-10.", "redlock-ticket-99999.AAAA"})
        BOOST_TEST((problem_of(text) == errc::ticket_too_new), text);
    for (char const* text :
         {"", "hello", "redlock-ticket-", "redlock-ticket-0.x", "redlock-ticket--1.x", "redlock-ticket-2", "redlock-ticket-x.x",
          "redlock-ticket-1.", "redlock-ticket-1.=", "redlock-ticket-1.AAAAAAAAAAAAAAAA", "redlock-ticket-99999999999999999999999.x"})
        BOOST_TEST((problem_of(text) == errc::invalid_ticket), text);
    BOOST_TEST((problem_of("redlock-ticket-1." + std::string(100'000, 'A')) == errc::invalid_ticket));
}

BOOST_AUTO_TEST_CASE(one_may_have_64_kilobytes)
{
    auto t = plain_ticket();
    std::size_t size = 0;
    for (t.value.resize(49'000, 'v'); size < 65'536; t.value += 'v') {
        auto const text = to_text(t);
        size = text.size();
        BOOST_TEST_REQUIRE((problem_of(text) == (size <= 65'536 ? errc{} : errc::invalid_ticket)), size << " bytes");
    }
    BOOST_TEST(is_bad(t));
}

// The checksum is no secret, so a reader must not rely on it.
BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_no_ticket)
{
    BOOST_TEST(!is_bad(some_ticket()));
    auto const with = [](auto change) {
        auto t = some_ticket();
        change(t);
        return is_bad(t);
    };
    BOOST_TEST(with([](ticket& t) { t.keys.clear(); }));
    BOOST_TEST(with([](ticket& t) { t.keys.assign(65, "k"); }));
    BOOST_TEST(with([](ticket& t) { std::swap(t.keys[0], t.keys[1]); }));
    BOOST_TEST(with([](ticket& t) { t.keys[1] = t.keys[0]; }));
    BOOST_TEST(with([](ticket& t) { t.keys[0].clear(); }));
    BOOST_TEST(with([](ticket& t) { t.keys = {"redlock:node"}; }));
    BOOST_TEST(with([](ticket& t) { t.keys = {"x:fence"}; }));
    BOOST_TEST(with([](ticket& t) { t.text.clear(); }));
    BOOST_TEST(with([](ticket& t) { t.value.clear(); }));
    BOOST_TEST(with([](ticket& t) { t.fenced = false; }));
    BOOST_TEST(with([](ticket& t) { t.token = 0; }));
    BOOST_TEST(with([](ticket& t) { t.token = t.last_token + 1; }));
    BOOST_TEST(with([](ticket& t) { t.guard = t.last_token - 1; }));
    BOOST_TEST(with([](ticket& t) { t.guard = std::uint64_t{1} << 53; }));
    BOOST_TEST(with([](ticket& t) { t.ttl = 0ms; }));
    BOOST_TEST(with([](ticket& t) { t.ttl = 1ms; }), "no lock has such a ttl, and no time would be left of it");
    BOOST_TEST(with([](ticket& t) { t.ttl = 9ms; }));
    BOOST_TEST(!with([](ticket& t) { t.ttl = 10ms; }));
    BOOST_TEST(with([](ticket& t) { t.ttl = std::chrono::days{30}; }), "with lock_delay, more than there can be");
    BOOST_TEST(with([](ticket& t) { t.nodes = 0; }));
    BOOST_TEST(with([](ticket& t) { t.nodes = 16; }));
    BOOST_TEST(with([](ticket& t) { t.servers.assign(16, 1); }));
}

BOOST_AUTO_TEST_CASE(other_nodes_are_those_of_which_a_majority_is_connected_and_none_is_known)
{
    auto t = some_ticket();
    BOOST_TEST(!is_of_other_nodes(t, {"x", "y", "a", "z", ""}));
    BOOST_TEST(is_of_other_nodes(t, {"x", "y", "", "z", ""}));
    BOOST_TEST(!is_of_other_nodes(t, {"x", "y", "", "", ""}), "too few to say so");
    t.servers.clear();
    BOOST_TEST(!is_of_other_nodes(t, {"x", "y", "z"}), "the servers have not told");
}

BOOST_AUTO_TEST_SUITE_END()
