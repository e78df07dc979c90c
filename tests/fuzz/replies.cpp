// Answers to every request: well-formed RESP3 of any shape, often nearly right.
#include "conversation.hpp"

namespace redlock::fuzz {
namespace {

using detail::verb;
using detail::wire_call;
using resp3::type;

constexpr std::array types{type::simple_string, type::simple_error,    type::number,      type::doublean, type::boolean, type::big_number,
                           type::null,          type::blob_error,      type::blob_string, type::array,    type::map,     type::set,
                           type::attribute,     type::verbatim_string, type::push,        type::number,   type::number,  type::number};

constexpr std::array<std::string_view, 31> values{"0",
                                                  "1",
                                                  "2",
                                                  "-1",
                                                  "-2",
                                                  "-3",
                                                  "-4",
                                                  "",
                                                  "OK",
                                                  "1abc",
                                                  " 1",
                                                  "+1",
                                                  "01",
                                                  "-",
                                                  "1.0",
                                                  "-100",
                                                  "-101",
                                                  "-1797000000000100",
                                                  "-9007199254741092",
                                                  "9007199254740991",
                                                  "9007199254740992",
                                                  "9223372036854775807",
                                                  "18446744073709551616",
                                                  "-9223372036854775809",
                                                  "999999999999999",
                                                  "WRONGTYPE of a key",
                                                  "NOSCRIPT no such script",
                                                  "ERR what",
                                                  "MOVED 1 127.0.0.1:1",
                                                  "queued",
                                                  "-6"};

constexpr std::array<std::string_view, 8> codes{"1", "1", "0", "-6", "-1", "-2", "-3", "-5"};

class writer {
public:
    writer(input& in, answer& to) : in_{in}, to_{to} {}

    void any(std::size_t depth)
    {
        constexpr std::size_t max_depth = 5, max_nodes = 64;
        type const t = in_.one_of(types);
        if (!resp3::is_aggregate(t) || depth == max_depth || to_.size() > max_nodes)
            return leaf(resp3::is_aggregate(t) ? type::null : t, depth);
        std::size_t const size = in_.below(7);
        to_.push_back({t, size, depth, {}});
        for (std::size_t i = 0; i < size * resp3::element_multiplicity(t); ++i) any(depth + 1);
    }

    void leaf(type t, std::size_t depth)
    {
        std::size_t const choice = in_.below(values.size() + 1);
        to_.push_back({t, 1, depth, std::string{choice < values.size() ? values[choice] : in_.text(12)}});
    }

    void leaf(type t, std::size_t depth, std::string_view value) { to_.push_back({t, 1, depth, std::string{value}}); }

    // Two numbers for each acquire, or a digit for each release: as many as are right, or some more or less, and each right or strange.
    void text(wire_call const& call)
    {
        bool const acquires = call.what == verb::acquire;
        std::size_t const right_size = call.count * (acquires ? 2 : 1);
        std::size_t const size = in_.below(8) == 7 ? in_.below(8) : right_size;
        std::string words;
        for (std::size_t i = 0; i < size; ++i) {
            if (acquires && i > 0) words += ' ';
            if (in_.below(8) == 7) words += values[in_.below(values.size())];
            else if (!acquires) words += in_.flag() ? '1' : '0';
            else if (i % 2 == 0) words += in_.one_of(codes);
            else words += std::to_string(in_.byte());
        }
        leaf(type::blob_string, 0, words);
    }

    // What the scripts of semaphores say: a code where there is one, numbers and a map, each right or strange.
    void permits(wire_call const& call)
    {
        constexpr std::array<std::string_view, 5> acquired{"C", "N", "M", "N", "N"};
        constexpr std::array<std::string_view, 4> kept{"C", "N", "N", "M"};
        constexpr std::array<std::string_view, 4> looked{"N", "N", "M", "N"};
        bool const acquires = call.what == verb::acquire;
        auto const right_size = acquires ? 4U : 3U;
        std::size_t const size = in_.below(8) == 7 ? in_.below(5) : right_size;
        std::string words;
        for (std::size_t i = 0; i < size; ++i) {
            auto const is = acquires                  ? acquired[i]
                            : call.what == verb::keep ? kept[std::min<std::size_t>(i, 3)]
                                                      : looked[std::min<std::size_t>(i, 3)];
            if (i > 0) words += ' ';
            if (in_.below(8) == 7) words += values[in_.below(values.size())];
            else if (is == "C") words += in_.below(4) == 3 ? "-7" : in_.one_of(codes);
            else if (is == "N") words += std::to_string(in_.byte());
            else
                for (std::size_t digits = in_.below(4) == 3 ? in_.below(70) : 3; digits > 0; --digits)
                    words += static_cast<char>('0' + in_.below(3));
        }
        leaf(type::blob_string, 0, words);
    }

    // As many elements as are right, or some more or less, and each right or strange.
    void numbers(std::size_t right_size)
    {
        std::size_t const size = in_.below(4) == 3 ? in_.below(8) : right_size;
        to_.push_back({type::array, size, 0, {}});
        for (std::size_t i = 0; i < size; ++i) {
            if (in_.below(8) == 7) any(1);
            else leaf(type::number, 1);
        }
    }

private:
    input& in_;
    answer& to_;
};

std::size_t elements_of(wire_call const& call)
{
    if (call.what != verb::extend && call.what != verb::climb) return 2;
    std::size_t keys = !call.key_counts ? call.count : 0;
    for (std::size_t i = 0; call.key_counts && i < call.count; ++i) keys += call.key_counts[i];
    return keys;
}

void facts(input& in, writer& w, answer& a)
{
    std::size_t const size = 5 + in.below(8);
    a.push_back({type::array, size, 0, {}});
    std::string const record = std::string{server_id} + " 0000000000000007 0000060000 " + (in.flag() ? "-" : "mark");
    for (std::size_t i = 0; i < size; ++i) {
        if (in.below(6) == 5) w.any(1);
        else if (i == 0) w.leaf(type::blob_string, 1, server_id);
        else if (i == 1) w.leaf(type::blob_string, 1, "master");
        else if (i == 4) w.leaf(type::blob_string, 1, std::string_view{record}.substr(0, in.flag() ? record.size() : in.below(80)));
        else w.leaf(type::blob_string, 1);
    }
}

void info(input& in, writer& w)
{
    std::string text{"# Replication\r\nrole:"};
    text.append(in.below(4) == 3 ? "slave" : "master").append("\r\nmaster_replid:").append(in.below(4) == 3 ? "0" : "").append(server_id);
    w.leaf(in.flag() ? type::verbatim_string : type::blob_string, 0, text.append("\r\n").append(in.text(20)));
}

void time(input& in, writer& w, answer& a)
{
    std::size_t const size = in.below(8) == 7 ? in.below(5) : 2;
    a.push_back({type::array, size, 0, {}});
    for (std::size_t i = 0; i < size; ++i) {
        if (in.below(8) == 7) w.any(1);
        else if (in.flag()) w.leaf(type::blob_string, 1);
        else w.leaf(type::blob_string, 1, i == 0 ? "1795297616" : "470733");
    }
}

answer answer_to(wire_call const& call, input& in)
{
    answer a;
    writer w{in, a};
    if (in.below(4) == 3) w.any(0);
    else if (call.is == wire_call::kind::identity) info(in, w);
    else if (call.is == wire_call::kind::time) time(in, w, a);
    else if (call.is == wire_call::kind::arm) w.leaf(type::simple_string, 0, "OK");
    else if (call.what == verb::inspect) facts(in, w, a);
    else if ((call.what == verb::acquire && call.of_slots) || call.what == verb::keep || call.what == verb::look) w.permits(call);
    else if ((call.what == verb::release && (call.count > 1 || call.shared)) || (call.what == verb::acquire && call.fenced)) w.text(call);
    else if (call.what == verb::extend || call.what == verb::climb || call.what == verb::mark) w.numbers(elements_of(call));
    else w.leaf(call.what == verb::acquire ? type::simple_string : type::number, 0);
    return a;
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock::fuzz;
    input in{data, size};
    conversation const talk{in};
    std::vector<answer> answers;
    for (std::size_t i = 0; i < talk.calls(); ++i) answers.push_back(answer_to(talk.call(i), in));
    talk.judge(answers);
    return 0;
}
