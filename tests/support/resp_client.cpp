#include "resp_client.hpp"

#include <array>
#include <charconv>
#include <stdexcept>

namespace redlock::testing {
namespace {

constexpr int max_depth = 8;
constexpr long max_elements = 100'000;
constexpr long max_bulk_bytes = 64L * 1024 * 1024;

long number(std::string_view digits)
{
    long value = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size()) throw std::runtime_error{"not RESP2: a number was expected"};
    return value;
}

}  // namespace

std::string resp_reply::to_string() const
{
    if (type != kind::array) return text;
    std::string lines;
    for (auto const& item : items) {
        if (!lines.empty()) lines += '\n';
        lines += item;
    }
    return lines;
}

resp_client::resp_client(loopback family, std::uint16_t port, std::chrono::milliseconds timeout)
    : socket_{family, port, std::chrono::steady_clock::now() + timeout}
{
}

resp_client::resp_client(std::string const& host, std::uint16_t port, std::chrono::milliseconds timeout)
    : socket_{host, port, std::chrono::steady_clock::now() + timeout}
{
}

resp_reply resp_client::ask(std::vector<std::string> const& command)
{
    std::string request{"*"};
    request.append(std::to_string(command.size())).append("\r\n");
    for (auto const& word : command) request.append("$").append(std::to_string(word.size())).append("\r\n").append(word).append("\r\n");
    socket_.write(request);

    resp_reply reply;
    read_value(reply, 0);
    return reply;
}

void resp_client::read_value(resp_reply& reply, int depth)
{
    using kind = resp_reply::kind;
    std::string const line = read_line();
    std::string_view const rest = std::string_view{line}.substr(1);
    switch (line.front()) {
    case '+':
        reply.type = kind::text;
        reply.text = rest;
        return;
    case '-':
        reply.type = kind::error;
        reply.text = rest;
        return;
    case ':':
        reply.type = kind::integer;
        reply.text = rest;
        return;
    case '$':
    case '*': break;
    default: throw std::runtime_error{"not RESP2: " + line.substr(0, 80)};
    }

    long const size = number(rest);
    if (size < 0) {
        reply.type = kind::nil;
        reply.text = "(nil)";
    } else if (line.front() == '*') {
        read_array(reply, size, depth);
    } else {
        if (size > max_bulk_bytes) throw std::runtime_error{"the reply is too long"};
        reply.type = kind::text;
        reply.text = read_exactly(static_cast<std::size_t>(size));
        read_exactly(2);
    }
}

void resp_client::read_array(resp_reply& reply, long count, int depth)
{
    if (depth >= max_depth || count > max_elements) throw std::runtime_error{"the reply is too big"};
    reply.type = resp_reply::kind::array;
    for (long i = 0; i < count; ++i) {
        resp_reply element;
        read_value(element, depth + 1);
        if (element.type == resp_reply::kind::array) reply.items.insert(reply.items.end(), element.items.begin(), element.items.end());
        else reply.items.push_back(std::move(element.text));
    }
}

std::string resp_client::read_line()
{
    std::size_t end;
    while ((end = buffer_.find("\r\n")) == std::string::npos) fill();
    std::string line = buffer_.substr(0, end);
    buffer_.erase(0, end + 2);
    if (line.empty()) throw std::runtime_error{"not RESP2: an empty line"};
    return line;
}

std::string resp_client::read_exactly(std::size_t size)
{
    while (buffer_.size() < size) fill();
    std::string bytes = buffer_.substr(0, size);
    buffer_.erase(0, size);
    return bytes;
}

void resp_client::fill()
{
    std::array<char, 4096> chunk;
    auto const size = socket_.read(chunk.data(), chunk.size());
    buffer_.append(chunk.data(), size);
}

}  // namespace redlock::testing
