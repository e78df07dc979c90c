// One connection to a server, kept busy with many commands in one message: for programs that measure what servers do.
#ifndef REDLOCK_TESTS_FENCING_PIPELINE_HPP
#define REDLOCK_TESTS_FENCING_PIPELINE_HPP

#include "support/loopback.hpp"
#include "support/redis_server.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {

using words = std::vector<std::string>;

inline std::string encoded(words const& command)
{
    std::string text = "*" + std::to_string(command.size()) + "\r\n";
    for (auto const& word : command) text.append("$" + std::to_string(word.size()) + "\r\n").append(word).append("\r\n");
    return text;
}

// Speaks RESP3, and sends so many commands at once. Answers are thrown away, all but errors; pushes are counted.
class pipeline {
public:
    pipeline(redis_server const& to, std::size_t depth)
        : depth_{depth}, socket_{loopback::ipv4, to.port(), std::chrono::steady_clock::now() + std::chrono::minutes{10}}
    {
        run({{"HELLO", "3"}});
    }

    void run(std::vector<words> const& commands)
    {
        for (std::size_t first = 0; first < commands.size(); first += depth_) {
            auto const end = std::min(commands.size(), first + depth_);
            std::string text;
            for (std::size_t i = first; i < end; ++i) text += encoded(commands[i]);
            socket_.write(text);
            for (std::size_t i = first; i < end; ++i) skip_answer();
        }
    }

    // A subscription is answered by a push.
    void subscribe(std::string const& channel)
    {
        socket_.write(encoded({"SUBSCRIBE", channel}) + encoded({"PING"}));
        skip_answer();
    }

    struct told {
        std::size_t pushes{0};
        std::size_t names{0};  // in them
    };

    // Everything up to now.
    told take_told()
    {
        run({{"PING"}});
        return std::exchange(told_, {});
    }

private:
    void skip_answer()
    {
        in_arrays_ = 0;
        while (skip_value() == '>') {
            ++told_.pushes;
            told_.names += in_arrays_ > 0 ? in_arrays_ : 1;
            in_arrays_ = 0;
        }
    }
    char skip_value()
    {
        std::string const line = read_line();
        char const type = line.front();
        if (type == '-') throw std::runtime_error{line};
        if (type == '$' || type == '=') {
            if (long const size = std::stol(line.substr(1)); size >= 0) skip(static_cast<std::size_t>(size) + 2);
        } else if (type == '*' || type == '>' || type == '~' || type == '%') {
            long const size = std::stol(line.substr(1)) * (type == '%' ? 2 : 1);
            if (type == '*') in_arrays_ += static_cast<std::size_t>(std::max(0L, size));
            for (long i = 0; i < size; ++i) skip_value();
        }
        return type;
    }
    std::string read_line()
    {
        std::size_t end;
        while ((end = buffer_.find("\r\n", at_)) == std::string::npos) fill();
        std::string line = buffer_.substr(at_, end - at_);
        at_ = end + 2;
        return line;
    }
    void skip(std::size_t size)
    {
        while (buffer_.size() - at_ < size) fill();
        at_ += size;
    }
    void fill()
    {
        buffer_.erase(0, at_);
        at_ = 0;
        std::array<char, 65'536> chunk;
        buffer_.append(chunk.data(), socket_.read(chunk.data(), chunk.size()));
    }

    std::size_t depth_;
    loopback_socket socket_;
    std::string buffer_{};
    std::size_t at_{0};
    told told_{};
    std::size_t in_arrays_{0};
};

}  // namespace redlock::testing

#endif
