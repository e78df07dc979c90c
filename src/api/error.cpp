#include <redlock/error.hpp>

#include <cstdio>
#include <string>

namespace redlock {

namespace {

char const* text_of(errc e) noexcept
{
    switch (e) {
    case errc::contended: return "another holder has the lock";
    case errc::split_votes: return "the votes are split: clients asked at the same moment, or one has the lock on some nodes only";
    case errc::no_majority: return "too few nodes voted to know who holds the lock";
    case errc::validity_exhausted: return "a majority granted the lock, but too late to use it";
    case errc::acquire_timed_out: return "the lock was not acquired in time: it is contended";
    case errc::acquire_timed_out_no_majority: return "the lock was not acquired in time: too few nodes voted to know who holds it";
    case errc::self_deadlock: return "the scope or the owner that holds the lock asks for it again, and would wait for itself";
    case errc::lease_lost: return "the lease is lost: the critical section is no longer protected";
    case errc::max_hold_exceeded: return "the lease was held for max_hold, so it is not extended any more";
    case errc::not_held: return "there is no lease: this object is empty or was released";
    case errc::release_unconfirmed: return "too few nodes answered the release: the keys expire by themselves";
    case errc::client_cancelled: return "the client was cancelled";
    case errc::client_not_running: return "client.run() was not called, so no node was asked";
    case errc::stale_token: return "the fencing token is 0, or smaller than one that the resource has seen";
    case errc::node_unreachable: return "no usable connection to the node";
    case errc::node_timeout: return "the node did not answer in time";
    case errc::node_unsuitable: return "locks are not safe on this server";
    case errc::node_duplicate: return "another address leads to the same server";
    case errc::node_not_admitted: return "the node is not admitted: it lost its data, or is new";
    case errc::node_clock_stepped: return "the node has no vote for a while: its clock was set";
    case errc::ttl_too_long: return "the ttl is longer than the node allows";
    case errc::not_durable: return "too few replicas have what the node granted, or it is not on disk";
    case errc::node_queue_full: return "the node is not keeping up: its queue is full";
    case errc::handshake_refused: return "the server refused the handshake: wrong credentials, or older than Redis 6";
    case errc::not_a_redis_server: return "what the server sent is not the Redis protocol";
    case errc::server_error: return "the server answered with an error";
    case errc::unexpected_reply: return "the server answered with something that the protocol does not allow here";
    case errc::tls_failed: return "no secure connection to the node";
    case errc::credentials_unavailable: return "there is no password for the node";
    case errc::invalid_ticket: return "this is no ticket of a lease, or not all of one";
    case errc::ticket_too_new: return "the ticket was written by a newer version of this library";
    case errc::ticket_of_other_nodes: return "the ticket is of a lock on other nodes";
    case errc::state_too_large: return "the state is larger than 4096 bytes: nothing was published";
    case errc::state_unsupported: return "no state goes with a lease without tokens, of a reader, or of several names";
    case errc::permits_differ: return "the nodes keep another number of permits; redlock semaphore NAME --permits K changes it";
    case errc::too_many_permits: return "no permit was asked for, or more than the semaphore has";
    case errc::permits_changing: return "somebody else changes the number of permits of this semaphore";
    case errc::wrong_node_set: return "the list of nodes is not that of the set to which the servers belong";
    }
    return nullptr;
}

char const* text_of(condition c) noexcept
{
    switch (c) {
    case condition::not_acquired: return "the lock was not acquired";
    case condition::lost: return "the lease has ended, and with it the protection of the critical section";
    case condition::node_failure: return "a node did not vote";
    case condition::contended: return "others have the lock, or want it now";
    case condition::unavailable: return "it cannot be known who has the lock";
    case condition::timed_out: return "the lock was not acquired in time";
    case condition::unconfirmed: return "the lock was held to the end, but too few nodes confirmed its release";
    }
    return nullptr;
}

bool belongs_to(errc e, condition c) noexcept
{
    switch (e) {
    case errc::contended:
    case errc::split_votes: return c == condition::not_acquired || c == condition::contended;
    case errc::acquire_timed_out: return c == condition::not_acquired || c == condition::contended || c == condition::timed_out;
    case errc::no_majority:
    case errc::validity_exhausted:
    case errc::client_not_running: return c == condition::not_acquired || c == condition::unavailable;
    case errc::acquire_timed_out_no_majority:
        return c == condition::not_acquired || c == condition::unavailable || c == condition::timed_out;
    case errc::self_deadlock:
    case errc::invalid_ticket:
    case errc::ticket_too_new:
    case errc::ticket_of_other_nodes:
    case errc::permits_differ:
    case errc::too_many_permits: return c == condition::not_acquired;
    case errc::lease_lost:
    case errc::max_hold_exceeded:
    case errc::client_cancelled: return c == condition::lost;
    case errc::node_unreachable:
    case errc::node_timeout:
    case errc::node_unsuitable:
    case errc::node_duplicate:
    case errc::node_not_admitted:
    case errc::node_clock_stepped:
    case errc::not_durable:
    case errc::node_queue_full:
    case errc::handshake_refused:
    case errc::not_a_redis_server:
    case errc::server_error:
    case errc::unexpected_reply:
    case errc::tls_failed:
    case errc::credentials_unavailable: return c == condition::node_failure;
    case errc::ttl_too_long:
    case errc::wrong_node_set: return c == condition::not_acquired || c == condition::node_failure;
    case errc::release_unconfirmed: return c == condition::unconfirmed;
    case errc::not_held:
    case errc::state_too_large:
    case errc::state_unsupported:
    case errc::stale_token:
    case errc::permits_changing: return false;
    }
    return false;
}

// Boost compares categories by these numbers. So a category equals its copy in another shared object that contains this library.
constexpr boost::ulong_long_type error_category_id = 0x9d3c51e0a7b64f21;
constexpr boost::ulong_long_type condition_category_id = 0x9d3c51e0a7b64f22;

template <class Enum>
class texts : public boost::system::error_category {
public:
    using error_category::error_category;

    std::string message(int value) const override
    {
        char buffer[64];
        return message(value, buffer, sizeof buffer);
    }

    char const* message(int value, char* buffer, std::size_t size) const noexcept override
    {
        if (char const* text = text_of(static_cast<Enum>(value))) return text;
        std::snprintf(buffer, size, "unknown value %d of %s", value, name());
        return buffer;
    }
};

class error_texts final : public texts<errc> {
public:
    constexpr error_texts() noexcept : texts{error_category_id} {}
    char const* name() const noexcept override { return "redlock"; }
};

class condition_texts final : public texts<condition> {
public:
    constexpr condition_texts() noexcept : texts{condition_category_id} {}
    char const* name() const noexcept override { return "redlock.condition"; }

    bool equivalent(error_code const& code, int value) const noexcept override
    {
        return code.category() == redlock::error_category() && belongs_to(static_cast<errc>(code.value()), static_cast<condition>(value));
    }
};

// Constant-initialised: usable while other globals are being made and after they are gone.
constexpr error_texts the_error_category;
constexpr condition_texts the_condition_category;

}  // namespace

boost::system::error_category const& error_category() noexcept { return the_error_category; }

boost::system::error_category const& condition_category() noexcept { return the_condition_category; }

}  // namespace redlock
