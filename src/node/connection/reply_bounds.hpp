// Checks how much a server sends, and in which form, before the parser of Boost.Redis sees it: that parser believes every length that a server
// announces (it reserves 2 GB for `$2000000000`), and does not survive some. bounded_stream calls it. No I/O.
#ifndef REDLOCK_NODE_CONNECTION_REPLY_BOUNDS_HPP
#define REDLOCK_NODE_CONNECTION_REPLY_BOUNDS_HPP

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace redlock::detail {

class reply_bounds {
public:
    // Bytes for the answer to one command. Errors and INFO are the longest.
    static constexpr std::size_t default_max_answer = 8'192;
    explicit reply_bounds(std::size_t max_answer = default_max_answer) noexcept : max_answer_{max_answer} {}

    // The most bytes that one text may announce, unless `max_answer` is more: Boost.Redis reserves memory for a whole text before its first byte.
    static constexpr std::size_t max_text = 65'536;

    // Bytes of all that comes before the end of the handshake: TLS, certificates, the answers to HELLO and to the handshake.
    static constexpr std::size_t max_handshake = 262'144;

    // Bytes of all that comes after the handshake besides the answers: pushes, and the overhead of TLS. Each request allows as many bytes more as it
    // has itself, since servers push only changes of keys that were asked about. renew() allows the whole number again.
    static constexpr std::size_t max_besides = 1'048'576;

    // A push counts as at least so many bytes, since small pushes take much time, too. A request about a key is longer than that.
    static constexpr std::size_t min_push = 64;

    // The handshake is over.
    void opened() noexcept;

    // A quarter of the stall_timeout has passed: the allowance for pushes begins anew.
    void renew() noexcept;

    struct question {
        std::size_t bytes;
        std::size_t commands;
        std::size_t longer{0};  // bytes by which one of the answers may be longer than the others
    };

    // A request is sent.
    void asked(question const& what) noexcept;

    // All answers to a request have come.
    void answered(question const& what) noexcept;

    // Counts bytes that came from the network.
    void received(std::size_t bytes);

    // Checks the plain text of those bytes, in pieces of any size. Call it only while there is no objection, and pass the piece on only then.
    void look(std::string_view piece);

    // Why nothing more may be read; empty: all is within bounds.
    std::string const& objection() const noexcept { return objection_; }

    // Whether the objection is that the server speaks another protocol.
    bool foreign() const noexcept { return foreign_; }

    // What the server said first, up to the end of its line, unless the handshake is over. Boost.Redis keeps that to itself.
    std::string_view first_line() const noexcept;

private:
    static constexpr std::size_t max_depth = 5;  // how deep the parser of Boost.Redis can nest
    static constexpr std::size_t max_line = 4'096;  // limits errors, above all
    static constexpr std::size_t max_header = 21;  // a type and a number
    static constexpr std::size_t max_first = 512;

    // The largest number of bytes that the answers to a request may have.
    std::size_t answers_to(question const& what) const noexcept { return what.bytes + what.commands * max_answer_ + what.longer; }
    void begin_message(char type);
    void count_push(std::size_t bytes);
    std::size_t read_short_element(std::string_view piece);
    std::size_t read_line(std::string_view piece);
    void on_line(std::size_t rest);
    void on_text(std::size_t size, std::size_t rest);
    void on_aggregate(char type, std::size_t size, std::size_t rest);
    void end_element() noexcept;
    void refuse_form();

    std::size_t max_answer_;
    std::size_t expected_{0};  // bytes that the answers to all requests under way may have
    std::size_t allowed_{max_handshake};  // bytes that may still come, in all
    std::size_t max_pushed_{max_besides};  // bytes that may still come in pushes
    std::size_t longer_{0};  // bytes by which an answer that is due may be longer than others
    std::size_t replies_due_{0};  // answers that have not begun yet
    bool in_push_{false};
    std::size_t push_prepaid_{0};  // bytes of the present push that count_push has counted already, as part of min_push
    bool open_{false};
    std::string objection_;
    bool foreign_{false};
    std::string first_;  // the first bytes of the handshake

    std::array<char, max_header> line_{};  // the beginning of the present line
    std::size_t line_size_{0};  // bytes of the present line that have come
    bool ends_in_return_{false};  // the last of them is a carriage return
    std::size_t text_left_{0};  // bytes that are missing of a text with its length in front, with the end of its line
    std::array<std::size_t, max_depth + 1> elements_left_{};  // by depth: elements that are missing of the aggregate there
    std::size_t depth_{0};
};

}  // namespace redlock::detail

#endif
