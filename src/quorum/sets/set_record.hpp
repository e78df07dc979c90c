// The record of a set of nodes: which servers belong together. Each server of the set has the same text under the key redlock:set; docs/proof.md ("Sets
// of nodes, and their changes") says what follows from that. No I/O.
#ifndef REDLOCK_QUORUM_SETS_SET_RECORD_HPP
#define REDLOCK_QUORUM_SETS_SET_RECORD_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::quorum {

// Of a set that was changed; 0: it was not.
struct member_counts {
    std::size_t size{0};  // N
    std::size_t before{0};  // N of the generation before
    std::size_t fewest{0}, most{0};  // members in any generation
    bool moved{false};  // a majority of the generation before has moved into this one, so that no other has followed that one
    bool is_of_leaver{false};  // the server with this text is the member that has left, whatever its address

    friend bool operator==(member_counts const&, member_counts const&) = default;
};

struct set_record {
    std::string id;  // random, of letters and digits
    std::uint64_t generation{0};
    std::uint64_t since{0};  // when it was founded, in seconds since 1970
    bool complete{false};  // every member has had the record, so no other set has a majority of them
    std::size_t shard{0};
    std::size_t shards{0};  // of config::shards; 0: the set is no shard
    std::string name;  // config::set_name of the client that founded it; empty: none
    std::vector<std::string> members;  // the addresses of its servers, in the order of the founder's list
    std::vector<std::uint64_t> joined{};  // since which generation each of them is a member; empty: since the first
    std::vector<std::string> left{};  // members of earlier generations; the last that left is the last
    member_counts counts{};  // none: it is the first generation

    bool has(std::string_view member) const noexcept;

    // Whether it is a member, or was one.
    bool knows(std::string_view address) const noexcept;

    // N, by which majorities are counted.
    std::size_t size() const noexcept { return counts.size == 0 ? members.size() : counts.size; }

    // N of the generation before.
    std::size_t size_before() const noexcept { return counts.before == 0 ? members.size() : counts.before; }

    // A member has left, and N is still that with it: nothing may be changed before leases and tokens of before are over, and N is as small as the set.
    bool is_open() const noexcept { return size() != members.size(); }

    // Whether a list of so many members may be that of an earlier generation.
    bool had(std::size_t number) const noexcept { return number == members.size() || (number >= counts.fewest && number <= counts.most); }

    // Since which generation it is a member. Precondition: it is one.
    std::uint64_t joined_in(std::string_view member) const noexcept;

    // Whether both are the same members of the same set and generation.
    bool is_same_generation(set_record const& other) const noexcept;

    // Whether it is of the same servers, in any order, and is meant for the same.
    bool is_of_same_list(set_record const& other) const;

    friend bool operator==(set_record const&, set_record const&) = default;
};

// "v1 ID GENERATION SINCE STATE SHARD/SHARDS NAME MEMBER …", with one space between the words. Bytes that would end a word are written as %XX.
// Of a set that was changed: "v2 BINDING ID GENERATION SINCE STATE SHARD/SHARDS NAME MEMBERS/N/BEFORE/FEWEST/MOST JOINED MEMBER … LEFT …", with the
// states "moving", "moved" and, at a member that leaves a smaller set, "left".
std::string to_text(set_record const& r);

// What stands before a server's id where its record of the set has been changed: "gNNNhhhhhh:", the generation and a hash of the members. Empty before
// the first change. Scripts find it in the text.
std::string binding_of(set_record const& r);
std::string_view binding_in(std::string_view text) noexcept;
inline constexpr std::size_t set_binding_size = 11;

// The next generation, in which `leaves` is not a member any more, and `joins` is one, at its place. Preconditions: `leaves` is a member, `joins` is none.
set_record with_member_replaced(set_record const& r, std::string const& leaves, std::string const& joins);

// The next generation, with more members, or with one less. The record is open if N was odd. Preconditions: it is not open yet; none of `join` is a member;
// `leaves` is one, and not the only one.
set_record with_members_added(set_record const& r, std::vector<std::string> const& join);
set_record with_member_removed(set_record const& r, std::string const& leaves);

// The next generation of an open one, with as many members and the smaller N.
set_record closed(set_record const& r);

// The generation before, as far as the record tells of it: N and the members, in another order. Precondition: it is not the first.
set_record generation_before(set_record const& r);

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
inline constexpr std::size_t max_member_size = 200;
std::string member_name(std::string address);

// "a, b, c".
std::string list_of(std::vector<std::string> const& members);

// A set in a sentence: "the set 3f2a… of 3 nodes (a, b, c), founded 2026-11-25 00:43:16 UTC".
std::string in_words(set_record const& r);

// Why this cannot be the name of a set, as the end of a sentence; empty when it can.
std::string set_name_problem(std::string_view name);

}  // namespace redlock::quorum

#endif
