// The words of each command that the library sends to a server: one call carries a command, or several of the same kind. redis_request decides which
// commands share a call, and what comes around them.
#ifndef REDLOCK_PROTOCOL_CALL_WORDS_HPP
#define REDLOCK_PROTOCOL_CALL_WORDS_HPP

#include "protocol/command.hpp"
#include "protocol/resp_writer.hpp"
#include "protocol/scripts.hpp"

#include <boost/redis/request.hpp>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// The last words of `SET key value NX PX ttl`, encoded. Kept for the next command, which mostly has the same ttl.
class set_options {
public:
    static constexpr std::size_t words = 3;

    std::string_view of(std::chrono::milliseconds ttl);

private:
    std::chrono::milliseconds ttl_{-1};
    std::string encoded_;
};

// Writes the words of one call, and notes the positions of the server's id in the bytes of the request.
class command_writer {
public:
    command_writer(resp_writer& words, std::vector<std::size_t>& ids) : words_{words}, ids_{ids}, first_{ids.size()} {}

    resp_writer& words() noexcept { return words_; }

    void add_id(std::string_view id)
    {
        words_ << id;
        ids_.push_back(words_.size() - id.size() - 2);
    }

    // Appends the call to the request. add_id() noted positions in the words; from now on they are positions in the bytes of the request, whose last
    // bytes are the words.
    void push_to(boost::redis::request& request, std::string_view name)
    {
        auto const size = words_.size();
        words_.push_to(request, name);
        auto const before = request.payload().size() - size;
        for (auto i = first_; i < ids_.size(); ++i) ids_[i] += before;
    }

private:
    resp_writer& words_;
    std::vector<std::size_t>& ids_;
    std::size_t first_;
};

// How many keys the commands have.
std::size_t keys_of(std::span<command const> commands) noexcept;

// Parts of a call: its script and the number of its keys; the lock's value; the keys, without and with those of their counters behind each.
resp_writer& call(resp_writer& words, script const& s, std::size_t keys);
resp_writer& add_value(resp_writer& words, command const& c);
void add_keys(resp_writer& words, command const& c);
void add_locks_and_fences(resp_writer& words, command const& c);

// Pushes one call that carries all of these commands, which are of the same kind. `id`: the server's id, which commands with tokens contain.
// Precondition: there is one, and it does not watch.
void push_call(boost::redis::request& request, command_writer to, set_options& options, std::span<command const> commands,
               std::string_view id);

}  // namespace redlock::detail

#endif
