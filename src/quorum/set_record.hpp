// The record of a set of nodes: which servers belong together. Each server of the set has the same text under the key redlock:set; docs/proof.md ("Sets
// of nodes, and their changes") says what follows from that. No I/O.
#ifndef REDLOCK_QUORUM_SET_RECORD_HPP
#define REDLOCK_QUORUM_SET_RECORD_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::quorum {

struct set_record {
    std::string id;  // random, of letters and digits
    std::uint64_t generation{0};
    std::uint64_t since{0};  // when it was founded, in seconds since 1970
    bool complete{false};  // every member has had the record, so no other set has a majority of them
    std::size_t shard{0};
    std::size_t shards{0};  // of config::shards; 0: the set is no shard
    std::string name;  // config::set_name of the client that founded it; empty: none
    std::vector<std::string> members;  // the addresses of its servers, in the order of the founder's list

    bool has(std::string_view member) const noexcept;

    // Whether it is of the same servers, in any order, and is meant for the same.
    bool is_of_same_list(set_record const& other) const;

    friend bool operator==(set_record const&, set_record const&) = default;
};

// "v1 ID GENERATION SINCE STATE SHARD/SHARDS NAME MEMBER …", with one space between the words. Bytes that would end a word are written as %XX.
std::string to_text(set_record const& r);

// What is under the key of the record.
struct set_text {
    enum class kind : std::uint8_t {
        none,
        good,
        too_new,  // a newer version of this library has written it
        foreign,  // it is no record
        hidden,  // the server does not let this user read it
    };
    kind is{kind::none};
    set_record record{};  // good
};
set_text read_set_text(std::string_view text);

// Begins what stands in place of a text that could not be read; the rest is the server's error.
inline constexpr char unreadable_set = '!';

// `address` as a member's name: in a record it has at most so many bytes, and the end of a longer one is replaced by a number made of it.
inline constexpr std::size_t member_size_max = 200;
std::string member_name(std::string address);

// A set in a sentence: "the set 3f2a… of 3 nodes (a, b, c), founded 2026-11-25 00:43:16 UTC".
std::string in_words(set_record const& r);

// Why this cannot be the name of a set, as the end of a sentence; empty when it can.
std::string set_name_problem(std::string_view name);

}  // namespace redlock::quorum

#endif
