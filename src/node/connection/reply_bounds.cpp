#include "node/connection/reply_bounds.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace redlock::detail {

namespace {

constexpr std::size_t smallest_element = 3;  // null: `_` and the end of the line

std::string in_kb(std::size_t bytes) { return std::to_string(bytes / 1024) + " KB"; }

// The number, if the text is digits and nothing else.
std::optional<std::size_t> to_size(std::string_view digits)
{
    std::size_t n{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, n);
    if (error != std::errc{} || stop != end || digits.empty()) return std::nullopt;
    return n;
}

}  // namespace

void reply_bounds::opened() noexcept
{
    open_ = true;
    std::string{}.swap(first_);
    renew();
}

std::string_view reply_bounds::first_line() const noexcept
{
    std::string_view const line{first_};
    return line.substr(0, line.find_first_of("\r\n"));
}

void reply_bounds::renew() noexcept
{
    allowed_ = max_besides + expected_;
    max_pushed_ = max_besides;
}

void reply_bounds::asked(question const& what) noexcept
{
    expected_ += answers_to(what);
    allowed_ += answers_to(what);
    replies_due_ += what.commands;
    longer_ += what.longer;
}

// Bytes that these answers were allowed, but did not have, are not allowed to later ones.
void reply_bounds::answered(question const& what) noexcept
{
    expected_ -= answers_to(what);
    longer_ -= what.longer;
    allowed_ = std::min(allowed_, max_besides + expected_);
    max_pushed_ = std::min(max_pushed_ + what.bytes, max_besides);
}

void reply_bounds::received(std::size_t bytes)
{
    if (bytes <= allowed_) {
        allowed_ -= bytes;
        return;
    }
    allowed_ = 0;
    if (!objection_.empty()) return;
    objection_ = open_ ? "it sent more than the answers to what it was asked can be, and " + in_kb(max_besides) + " besides"
                       : "it sent more than " + in_kb(max_handshake) + " while shaking hands";
}

void reply_bounds::look(std::string_view piece)
{
    if (!open_ && first_.size() < max_first) first_ += piece.substr(0, max_first - first_.size());
    while (!piece.empty() && objection_.empty()) {
        if (depth_ == 0 && text_left_ == 0 && line_size_ == 0) begin_message(piece.front());
        bool const push = in_push_;
        std::size_t size = std::min(text_left_, piece.size());
        if (size == 0) {
            size = read_short_element(piece);
            if (size == 0) size = read_line(piece);
        } else {
            text_left_ -= size;
            if (text_left_ == 0) end_element();
        }
        piece.remove_prefix(size);
        if (push && open_ && objection_.empty()) count_push(size);
    }
}

void reply_bounds::count_push(std::size_t bytes)
{
    std::size_t const paid = std::min(bytes, push_prepaid_);
    push_prepaid_ -= paid;
    bytes -= paid;
    if (bytes > max_pushed_) objection_ = "it sent more than " + in_kb(max_besides) + " that nobody asked for";
    max_pushed_ -= std::min(bytes, max_pushed_);
}

void reply_bounds::begin_message(char type)
{
    in_push_ = type == '>';
    if (!open_) return;
    if (in_push_) {
        push_prepaid_ = 0;
        count_push(min_push);
        push_prepaid_ = min_push;
    } else if (replies_due_ == 0) {
        objection_ = "it answered what it was not asked";
    } else {
        --replies_due_;
    }
}

// Reads the common elements fast: `+OK`, whole lines with a number of one or two digits, and with them their text if it is there. Returns how many
// bytes it has read; 0: it is another kind.
std::size_t reply_bounds::read_short_element(std::string_view piece)
{
    if (line_size_ != 0 || piece.size() < 4) return 0;
    char const type = piece[0];
    if (type == '+' && piece.starts_with("+OK\r\n")) {
        end_element();
        return 5;
    }
    auto const digit = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<unsigned char>(piece[at])) - '0'; };
    auto const ends = [&](std::size_t at) { return piece[at] == '\r' && piece[at + 1] == '\n'; };
    if ((type != ':' && type != '$' && type != '*') || digit(1) > 9) return 0;
    bool const one = ends(2);
    if (!one && (piece.size() < 5 || digit(2) > 9 || !ends(3))) return 0;
    std::size_t const number = one ? digit(1) : 10 * digit(1) + digit(2);
    std::size_t const size = one ? 4 : 5;
    if (type == '$' && piece.size() - size >= number + 2) {  // it is no longer than what is there, so it is within all bounds
        end_element();
        return size + number + 2;
    }
    if (type == ':') end_element();
    if (type == '$') on_text(number, piece.size() - size);
    if (type == '*') on_aggregate(type, number, piece.size() - size);
    return size;
}

// Reads the present line up to its end, or the part of it that is in `piece`. Returns how many bytes it has read.
std::size_t reply_bounds::read_line(std::string_view piece)
{
    auto const end = piece.find('\n');
    auto const part = piece.substr(0, end == std::string_view::npos ? end : end + 1);
    if (line_size_ < line_.size()) {
        auto const kept = std::min(part.size(), line_.size() - line_size_);
        std::copy_n(part.begin(), kept, line_.begin() + static_cast<std::ptrdiff_t>(line_size_));
    }
    line_size_ += part.size();
    bool const ends = end != std::string_view::npos && (part.size() > 1 ? part[part.size() - 2] == '\r' : ends_in_return_);
    ends_in_return_ = part.back() == '\r';
    if (line_size_ > max_line) {
        objection_ = "it sent a line of more than " + in_kb(max_line);
    } else if (ends) {
        on_line(piece.size() - part.size());
        line_size_ = 0;
    }
    return part.size();
}

// The present line is complete. `rest`: bytes of the piece behind the line; received() has counted them already.
void reply_bounds::on_line(std::size_t rest)
{
    std::size_t const size = line_size_ - 2;
    if (size == 0) return refuse_form();
    char const type = line_.front();
    switch (type) {
    case '+':
    case '-':
    case ':':
    case ',':
    case '(':
    case '#':
    case '_': return end_element();
    case '$':
    case '!':
    case '=':
    case '*':
    case '~':
    case '%':
    case '>':
    case '|': break;
    default: return refuse_form();
    }
    if (size > line_.size()) return refuse_form();
    auto const number = to_size({line_.data() + 1, size - 1});
    if (!number) return refuse_form();
    if (type != '$' && type != '!' && type != '=') return on_aggregate(type, *number, rest);
    if (type == '!' && *number > max_line) {
        objection_ = "it sent an error of more than " + in_kb(max_line);
        return;
    }
    on_text(*number, rest);
}

void reply_bounds::on_text(std::size_t size, std::size_t rest)
{
    if (size > std::min(allowed_ + rest, std::max(max_text, max_answer_ + longer_))) {
        objection_ = "it announced a text of " + std::to_string(size) + " bytes, more than any answer to what it was asked can be";
        return;
    }
    text_left_ = size + 2;
}

void reply_bounds::on_aggregate(char type, std::size_t size, std::size_t rest)
{
    std::size_t const each = type == '%' || type == '|' ? 2 : 1;
    if (size > (allowed_ + rest) / (each * smallest_element)) {
        objection_ = "it announced " + std::to_string(size) + " elements, more than any answer to what it was asked can have";
    } else if (size == 0) {
        end_element();
    } else if (depth_ == max_depth) {
        objection_ = "what it sent is nested deeper than " + std::to_string(max_depth) + " levels";
    } else {
        elements_left_[++depth_] = size * each;
    }
}

void reply_bounds::end_element() noexcept
{
    while (depth_ > 0 && --elements_left_[depth_] == 0) --depth_;
}

void reply_bounds::refuse_form()
{
    foreign_ = true;
    objection_ = "it does not speak the Redis protocol";
}

}  // namespace redlock::detail
