#include "node/connection/handshake.hpp"

#include "node/connection/credentials.hpp"
#include "node/connection/first_words.hpp"
#include "protocol/admission_scripts.hpp"
#include "protocol/keys.hpp"
#include "protocol/rights.hpp"
#include "protocol/scripts.hpp"
#include "protocol/server_words.hpp"

#include <optional>
#include <utility>

namespace redlock::detail {

namespace {

std::string not_redis(handshake::call const& call, std::string_view answer, std::string_view secret)
{
    constexpr std::size_t max_shown = 60;
    auto const expected = call.expected.empty() ? std::string{"a map"} : '"' + std::string{call.expected} + '"';
    return std::string{call.command} + " was answered with \"" + words_of_server(answer, secret).substr(0, max_shown) + "\" and not with " +
           expected + ": what listens there is no Redis or Valkey server";
}

}  // namespace

handshake::handshake(node_address const& address, bool of_cluster)
    : request{one_connection_only()}, has_password{detail::has_password(address)}, in_cluster{of_cluster}
{
    begin(question::hello, address);
    // For verb::watch. OPTIN: what is not asked for costs nothing, and the scripts arm no keys by reading them. Servers whose
    // rules forbid it are nodes that do not say when a key changes.
    ask({question::wish}, "CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP");
    // Servers whose rules forbid INFO answer with an error, and are believed to be suitable.
    for (char const* section : {"server", "memory"}) ask({.is = question::info, .section = section}, "INFO", section);
    for (script const* s : scripts_of_nodes()) ask({question::demand, s->sha1}, "SCRIPT", "LOAD", s->text);
    ask({question::demand, rights_script().sha1}, "SCRIPT", "LOAD", rights_script().text);
    ask({question::rights}, "EVALSHA", rights_script().sha1, "0");
    if (!in_cluster) ask({question::inspection}, "EVALSHA", inspect_script().sha1, "2", node_record_key, high_water_key);
}

handshake::handshake(node_address const& address, durability const& wanted, bool of_cluster)
    : request{one_connection_only()}, has_password{detail::has_password(address)}, needs{wanted}, in_cluster{of_cluster}
{
    begin(question::hello, address);
    for (char const* section : {"server", "replication"}) ask({.is = question::info, .section = section}, "INFO", section);
    // They wait for nothing here: this is to see whether the server has and allows them.
    if (wanted.fsync) {
        ask({question::wait}, "WAITAOF", "1", "0", "1");
    } else {
        ask({question::wait}, "WAIT", "0", "1");
    }
}

handshake::handshake(node_address const& address, greeting_only)
    : request{one_connection_only()}, has_password{detail::has_password(address)}
{
    begin(question::greeting, address);
}

// Boost.Redis says HELLO with the password first, but keeps the answer to itself: so it is said again. Without the password, since Redis from 7.2 on
// does not answer at all if it refuses a password behind other answers (redis/redis#15640), and each later answer would be taken for one to
// the question before. That the first HELLO was refused shows in the server's first line.
void handshake::begin(question first, node_address const& address)
{
    password_ = address.password;
    ask({first}, "HELLO", "3");
    if (address.database != 0) ask({question::demand, "OK"}, "SELECT", std::to_string(address.database));
}

void handshake::logs_in_with(std::string password)
{
    password_ = std::move(password);
    has_password = !password_.empty();
}

char const* hello_refused(handshake const& asked) noexcept
{
    return asked.has_password ? "HELLO was refused: wrong user name or password, or a server older than Redis 6"
                              : "HELLO was refused: the server wants a password, or is older than Redis 6";
}

void handshake_reader::on_node(std::size_t index, node_view const& node)
{
    if (against_.why || index >= asked_->calls.size()) return;
    auto const& call = asked_->calls[index];
    using enum handshake::question;
    if (call.is == hello && node.depth == 1) return read_hello(node.value);
    if (call.is == inspection && node.depth == 1) return inspected_.on_element(inspected_elements_++, node.value);
    if (node.depth > 0) return;
    bool const error = is_error(node);
    switch (call.is) {
    case hello:
    case greeting:
        if (error) against_ = refusal_of(node.value, *asked_);
        else if (!boost::redis::resp3::is_aggregate(node.data_type))
            object(errc::unexpected_reply, not_redis(call, node.value, asked_->password()));
        return;
    case demand:
        if (error || node.value != call.expected) object_to_demand(call, node.value, error);
        return;
    case info: return read_info(call.section, node);
    case rights:
        if (auto const why_not = objection_to_rights(node.value, error)) object(errc::node_unsuitable, *why_not);
        return;
    case wait:
        if (error) object_to_wait(node.value);
        return;
    case inspection:
        if (error && node.value.find("nknown") != std::string_view::npos) renamed_ = "INFO, MGET or TIME";
        return;  // who may not inspect can still do without tokens
    case wish: return;
    }
}

// Keys and values of the map come one after the other.
void handshake_reader::read_hello(std::string_view element)
{
    if (hello_key_.empty()) {
        hello_key_ = element;
    } else {
        facts_.read_hello(hello_key_, element);
        kind_.read_hello(hello_key_, element);
        hello_key_.clear();
    }
}

void handshake_reader::conclude()
{
    if (against_.why) return;
    if (auto const why_not = objection_to(facts_, asked_->in_cluster)) return object(errc::node_unsuitable, *why_not);
    if (auto const few = too_few_replicas()) return object(errc::not_durable, *few);
    auto const connected = facts_.connected_replicas();
    if (!connected) return;
    if (auto const why_not = objection_to_group(*connected, asked_->needs.replicas)) object(errc::node_unsuitable, *why_not);
}

// The section of a server that does not forbid it.
void handshake_reader::read_info(std::string_view section, node_view const& node)
{
    if (is_error(node)) {
        if (is_unknown_command(node.value)) renamed_ = "INFO";
        return;
    }
    may_ask_info_ = true;
    facts_.read_info(node.value);
    if (section == "server") kind_.read_info(node.value);
}

// A Sentinel has no scripts, so what it is comes first.
void handshake_reader::object_to_demand(handshake::call const& call, std::string_view answer, bool is_error)
{
    if (auto const why_not = objection_to(facts_, asked_->in_cluster)) return object(errc::node_unsuitable, *why_not);
    if (!is_error) return object(errc::unexpected_reply, not_redis(call, answer, asked_->password()));
    if (is_unknown_command(answer)) return object(errc::node_unsuitable, objection_to_missing(call.command));
    object(errc::server_error, std::string{answer});
}

identity_suspicion handshake_reader::doubt(bool trusted) const
{
    if (!kind_.takes_new_ids() && !trusted) return {no_tokens_on(kind_.foreign()), false};
    if (renamed_.empty()) return {};
    return {"it does not know " + renamed_ +
            ", which tells whether it lost its data: renamed or disabled there (rename-command); waiting does "
            "not help: restore its name, or use locks without fencing"};
}

void identity_suspicion::apply(quorum::node_facts& facts) const
{
    facts.why_unidentified = words;
    if (id_counts) return;
    facts.id.clear();
    facts.admitted.clear();
}

void identity_suspicion::apply(std::vector<reply>& replies) const
{
    if (words.empty()) return;
    for (reply& r : replies) {
        if (!r.facts()) continue;
        auto facts = *r.facts();
        apply(facts);
        r.set_facts(std::move(facts));
    }
}

void handshake_reader::object_to_wait(std::string_view answer)
{
    std::string const says = " (" + std::string{answer} + ')';
    if (asked_->needs.fsync && answer.find("unknown command") != std::string_view::npos)
        return object(errc::node_unsuitable, "fsync needs WAITAOF, which Redis has since 7.2 and every Valkey has; this server is " +
                                                 (facts_.version.empty() ? "older" : facts_.version) + says);
    if (asked_->needs.fsync && answer.find("appendonly") != std::string_view::npos)
        return object(errc::node_unsuitable, "fsync needs a server that keeps an append-only file; set appendonly yes" + says);
    if (answer.find("replica instances") != std::string_view::npos) return object(errc::node_unsuitable, why_not_a_replica());
    object(errc::server_error,
           std::string{"its votes need "} + (asked_->needs.fsync ? "WAITAOF" : "WAIT") + ", which the server refuses" + says);
}

// Votes would fail one after the other, each after the whole replication_timeout. Where a server's rules forbid INFO, they do.
std::optional<std::string> handshake_reader::too_few_replicas() const
{
    auto const connected = facts_.connected_replicas();
    if (asked_->needs.replicas == 0 || !connected || *connected >= asked_->needs.replicas) return std::nullopt;
    return replicas_in_words(*connected, asked_->needs.replicas) + ", and its votes need " + std::to_string(asked_->needs.replicas) +
           "; start them (REPLICAOF), or configure the node with fewer replicas";
}

void handshake_reader::object(error_code why, std::string words) { against_ = {why, std::move(words)}; }

}  // namespace redlock::detail
