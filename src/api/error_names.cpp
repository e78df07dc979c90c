// The names of error codes, for programs that read them.
#include <redlock/error.hpp>

namespace redlock {

char const* to_string(errc e) noexcept
{
    switch (e) {
    case errc::contended: return "contended";
    case errc::split_votes: return "split_votes";
    case errc::no_majority: return "no_majority";
    case errc::validity_exhausted: return "validity_exhausted";
    case errc::acquire_timed_out: return "acquire_timed_out";
    case errc::acquire_timed_out_no_majority: return "acquire_timed_out_no_majority";
    case errc::self_deadlock: return "self_deadlock";
    case errc::lease_lost: return "lease_lost";
    case errc::max_hold_exceeded: return "max_hold_exceeded";
    case errc::not_held: return "not_held";
    case errc::release_unconfirmed: return "release_unconfirmed";
    case errc::client_cancelled: return "client_cancelled";
    case errc::client_not_running: return "client_not_running";
    case errc::stale_token: return "stale_token";
    case errc::node_unreachable: return "node_unreachable";
    case errc::node_timeout: return "node_timeout";
    case errc::node_unsuitable: return "node_unsuitable";
    case errc::node_duplicate: return "node_duplicate";
    case errc::node_not_admitted: return "node_not_admitted";
    case errc::node_clock_stepped: return "node_clock_stepped";
    case errc::ttl_too_long: return "ttl_too_long";
    case errc::not_durable: return "not_durable";
    case errc::node_queue_full: return "node_queue_full";
    case errc::handshake_refused: return "handshake_refused";
    case errc::not_a_redis_server: return "not_a_redis_server";
    case errc::server_error: return "server_error";
    case errc::unexpected_reply: return "unexpected_reply";
    case errc::tls_failed: return "tls_failed";
    case errc::credentials_unavailable: return "credentials_unavailable";
    case errc::invalid_ticket: return "invalid_ticket";
    case errc::ticket_too_new: return "ticket_too_new";
    case errc::ticket_of_other_nodes: return "ticket_of_other_nodes";
    case errc::state_too_large: return "state_too_large";
    case errc::state_unsupported: return "state_unsupported";
    case errc::permits_differ: return "permits_differ";
    case errc::too_many_permits: return "too_many_permits";
    case errc::permits_changing: return "permits_changing";
    case errc::wrong_node_set: return "wrong_node_set";
    }
    return nullptr;
}

}  // namespace redlock
