// What happened in one schedule, for its picture (page.hpp). Recording changes nothing in the world.
#ifndef REDLOCK_TESTS_SIMULATION_RECORDER_HPP
#define REDLOCK_TESTS_SIMULATION_RECORDER_HPP

#include "clocks.hpp"

#include "protocol/command.hpp"
#include "protocol/reply.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::simulation {

class universe;

char const* to_string(detail::verb v) noexcept;

class recorder {
public:
    struct command {
        detail::verb what;
        std::string key;
        std::string value;
        std::chrono::milliseconds ttl;
        std::string tokens{};  // what it says about them, in words
    };
    struct message {
        std::size_t client;
        std::size_t server;
        std::vector<command> commands;
        std::vector<std::string> answers;
        duration sent;
        std::optional<duration> arrived;    // at the server
        std::optional<duration> answered;   // by the server
        std::optional<duration> delivered;  // to the client
        std::optional<duration> cut;        // its connection ended before that
        std::vector<duration> haunted;      // executed without a connection: late, or once more
    };
    // A lease as its holder sees it.
    struct lease_bar {
        std::size_t client;
        std::string name;
        std::string value;  // of its keys, as far as one can tell
        duration from;
        std::vector<std::pair<duration, duration>> valid_until;  // from when on, until when it was valid
        std::optional<duration> let_go;                          // its release began: it no longer is valid
        std::optional<duration> ended;
        std::string why;
    };
    // A key on a server.
    struct key_bar {
        std::size_t server;
        std::string name;
        std::string value;
        duration from;
        std::optional<duration> to;
        std::optional<duration> expires;  // about when the server will drop it
    };
    struct fault {
        std::string what;
        std::optional<std::size_t> client;
        std::optional<std::size_t> server;
        duration from;
        std::optional<duration> to;  // none: a moment
    };
    // Something that a user of the library did or saw.
    struct note {
        std::size_t client;
        duration at;
        std::string text;
    };

    std::size_t sent(std::size_t client, std::size_t server, duration at, detail::batch const& work, std::string_view learned);
    void arrived(std::size_t record, duration at) { messages[record].arrived = at; }
    void answered(std::size_t record, duration at, std::vector<detail::reply> const& answers);
    void delivered(std::size_t record, duration at) { messages[record].delivered = at; }
    void cut_off(std::size_t record, duration at) { messages[record].cut = at; }
    void haunted(std::size_t record, duration at) { messages[record].haunted.push_back(at); }

    void process_paused(std::size_t client, duration from, duration to);
    void process_killed(std::size_t client, duration at);
    void server_fault(std::size_t server, std::string what, duration from, std::optional<duration> to = {});
    void link_fault(std::size_t client, std::size_t server, std::string what, duration from, std::optional<duration> to = {});
    void say(std::size_t client, duration at, std::string text);

    // `value`: of its keys; empty: to be guessed.
    std::size_t lease_begins(std::size_t client, std::string name, duration at, duration valid_until, std::string value = {});
    void lease_extends(std::size_t lease, duration at, duration valid_until);
    void lease_ends(std::size_t lease, duration at, std::string why);

    // Something about the whole schedule, for its reader.
    void setting(std::string name, std::string text) { settings.emplace_back(std::move(name), std::move(text)); }

    // Notes which keys have come and gone. Keeps the machines and the weather of its first look.
    void look_at(universe& u);

    // Everything, a line each, in the order of time.
    std::vector<std::string> as_text() const;

    std::vector<message> messages;
    std::vector<lease_bar> leases;
    std::vector<key_bar> keys;
    std::vector<fault> faults;
    std::vector<note> notes;
    std::vector<std::pair<std::string, std::string>> settings;
    std::vector<std::int64_t> client_clocks;  // how much they are fast, in parts per million
    std::vector<std::int64_t> server_clocks;

private:
    void look_around(universe const& u);
    std::string value_of_new_lease(std::size_t client, std::string const& name) const;
    void lets_go(std::size_t client, std::string_view value, duration at);

    std::map<std::pair<std::size_t, std::string>, std::size_t> present_;
    std::vector<std::optional<std::size_t>> excluded_;  // the fault of each server that may not vote now
};

}  // namespace redlock::simulation

#endif
