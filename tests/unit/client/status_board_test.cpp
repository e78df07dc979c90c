// What is said of a node: nothing of the connection before.
#include "client/status_board.hpp"

#include "core/lease/ticket.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace redlock::detail {

BOOST_AUTO_TEST_SUITE(status_boards)

BOOST_AUTO_TEST_CASE(what_was_said_of_a_connection_goes_with_it)
{
    status_board board;
    for (char const* name : {"a", "b"}) board.add(name, false, 0.01);
    board.starts();
    board.primary(1, "10.0.0.1:6379");
    board.up(1, "run");
    board.login(1, "the password is old");
    auto s = board.status({});
    BOOST_TEST((s[1].state == node_state::usable && s[1].primary == "10.0.0.1:6379" && s[1].login_text == "the password is old"));
    BOOST_TEST((board.node_of("run") == std::optional<std::size_t>{1}));
    BOOST_TEST((board.fingerprints() == std::vector<std::uint32_t>{fingerprint("run")}));
    BOOST_TEST((s[0].state == node_state::connecting && s[0].primary.empty() && !s[0].last_error));

    board.down(1, errc::node_unreachable, "cut");
    s = board.status({});
    BOOST_TEST((s[1].state == node_state::down && s[1].primary.empty() && s[1].login_text.empty()));
    BOOST_TEST((s[1].last_error == errc::node_unreachable && s[1].last_error_text == "cut"));
    BOOST_TEST(s[1].admission_text == "it is not connected: cut");
    BOOST_TEST(!board.node_of("run"));
    BOOST_TEST(board.fingerprints().empty());
    board.up(1, "again");
    s = board.status({});
    BOOST_TEST((s[1].connects == 2u && s[0].connects == 0u));
    BOOST_TEST(s[1].last_error_text == "cut", "why it was down the last time");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
