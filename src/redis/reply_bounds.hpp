// Checks how much a server sends, and in which form, before the parser of Boost.Redis sees it: that parser believes every length that a server
// announces (it reserves 2 GB for `$2000000000`), and does not survive some. bounded_stream calls it. No I/O.
#ifndef REDLOCK_REDIS_REPLY_BOUNDS_HPP
#define REDLOCK_REDIS_REPLY_BOUNDS_HPP

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::detail {

class reply_bounds {
public:
    // `each`: bytes for the answer to one command. Errors and INFO are the longest.
    static constexpr std::size_t answer_max = 8'192;
    explicit reply_bounds(std::size_t each = answer_max) noexcept : each_{each} {}

    // One text, or `each`: Boost.Redis has room for all of it before its first byte is there.
    static constexpr std::size_t text_max = 65'536;

    // In all, before the handshake is over: TLS, certificates, the answers to HELLO and to the handshake.
    static constexpr std::size_t handshake_max = 262'144;

    // Afterwards, besides the answers, and what TLS adds: pushes. A request lets as many bytes more come as it has itself, since
    // servers tell only of keys that were asked about; renew() lets all of them come again.
    static constexpr std::size_t besides_max = 1'048'576;

    // Each push counts as so many at least, which is less than what it takes to ask about a key: the smallest ones are dear to handle.
    static constexpr std::size_t push_min = 64;

    void opened() noexcept;
    void renew() noexcept;

    // A request is sent, and all of its answers are there.
    struct question {
        std::size_t bytes;
        std::size_t commands;
    };
    void asked(question const& what) noexcept;
    void answered(question const& what) noexcept;

    // So many bytes came from the network.
    void received(std::size_t bytes);

    // They are these, in pieces of any size, without TLS. To be passed on only while there is no objection.
    void look(std::string_view piece);

    // Why nothing more may be read; empty: it may. `foreign`: it is another protocol.
    std::string const& objection() const noexcept { return objection_; }
    bool foreign() const noexcept { return foreign_; }

private:
    static constexpr std::size_t depth_max = 5;  // of the parser
    static constexpr std::size_t line_max = 4'096;  // errors, above all: each command of a call keeps a copy
    static constexpr std::size_t header_max = 21;  // a type and a number

    std::size_t answers_to(question const& what) const noexcept { return what.bytes + what.commands * each_; }
    void begin_message(char type);
    void count_push(std::size_t bytes);
    std::size_t read_short_line(std::string_view piece);
    std::size_t read_line(std::string_view piece);
    void on_line(std::size_t rest);
    void on_text(std::size_t size, std::size_t rest);
    void on_aggregate(char type, std::size_t size, std::size_t rest);
    void end_element() noexcept;
    void refuse_form();

    std::size_t each_;
    std::size_t expected_{0};  // the answers to all that was sent
    std::size_t allowed_{handshake_max};  // to come, in all
    std::size_t pushed_max_{besides_max};  // to come in pushes
    std::size_t replies_due_{0};
    bool in_push_{false};
    std::size_t push_paid_{0};  // bytes of the present push that push_min has counted already
    bool open_{false};
    std::string objection_;
    bool foreign_{false};

    std::array<char, header_max> line_{};  // its beginning
    std::size_t line_size_{0};
    bool returned_{false};  // the last byte was a carriage return
    std::size_t text_left_{0};  // of a string with its length in front, and its end
    std::array<std::size_t, depth_max + 1> elements_left_{};
    std::size_t depth_{0};
};

}  // namespace redlock::detail

#endif
