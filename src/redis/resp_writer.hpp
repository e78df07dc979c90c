// The words of one Redis command behind its name, as bytes (see request_bytes.hpp).
#ifndef REDLOCK_REDIS_RESP_WRITER_HPP
#define REDLOCK_REDIS_RESP_WRITER_HPP

#include <algorithm>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::detail {

class resp_writer {
public:
    resp_writer& operator<<(std::string_view word) { return add(word, {}); }
    resp_writer& operator<<(std::uint64_t number)
    {
        char digits[20];
        auto const end = std::to_chars(digits, digits + sizeof digits, number).ptr;
        return add({digits, static_cast<std::size_t>(end - digits)}, {});
    }
    resp_writer& operator<<(std::chrono::milliseconds d)
    {
        assert(d.count() >= 0);
        return *this << static_cast<std::uint64_t>(d.count());
    }

    // One word of two parts.
    resp_writer& add(std::string_view first, std::string_view second)
    {
        std::size_t const length = first.size() + second.size();
        char* at = room_for(length + 32);  // '$', at most 20 digits, two line ends
        *at++ = '$';
        at = length < 100 ? put_short(at, length) : std::to_chars(at, at + 20, length).ptr;
        at = copy(at, "\r\n");
        at = copy(at, first);
        at = copy(at, second);
        at = copy(at, "\r\n");
        size_ = static_cast<std::size_t>(at - bytes_.get());
        ++count_;
        return *this;
    }

    // A key: the prefix of all keys, a name and a suffix.
    resp_writer& key(std::string_view name, std::string_view suffix = {})
    {
        if (prefix_.empty()) return add(name, suffix);
        key_.assign(prefix_).append(name);
        return add(key_, suffix);
    }

    // `prefix` must live until the last key is written.
    void put_before_keys(std::string_view prefix) noexcept { prefix_ = prefix; }

    // Some words that are encoded already.
    resp_writer& add_encoded(std::string_view bytes, std::size_t words)
    {
        size_ = static_cast<std::size_t>(copy(room_for(bytes.size()), bytes) - bytes_.get());
        count_ += words;
        return *this;
    }

    // Bytes since the last push_to().
    std::size_t size() const noexcept { return size_; }

    // The command goes behind the others, and the words are gone.
    void push_to(std::string& commands, std::string_view name)
    {
        assert(name.size() < 20);
        char head[64];
        char* at = head;
        *at++ = '*';
        at = std::to_chars(at, at + 20, count_ + 1).ptr;
        at = copy(at, "\r\n$");
        at = put_short(at, name.size());
        at = copy(at, "\r\n");
        at = copy(at, name);
        at = copy(at, "\r\n");
        commands.append(head, at).append(bytes_.get(), size_);
        size_ = count_ = 0;
    }

private:
    // A number of one or two digits.
    static char* put_short(char* at, std::size_t number) noexcept
    {
        if (number >= 10) *at++ = static_cast<char>('0' + number / 10);
        *at++ = static_cast<char>('0' + number % 10);
        return at;
    }

    static char* copy(char* to, std::string_view what) noexcept { return std::copy(what.begin(), what.end(), to); }

    char* room_for(std::size_t more)
    {
        if (size_ + more > capacity_) {
            std::size_t const larger = 2 * (size_ + more);
            auto bytes = std::make_unique_for_overwrite<char[]>(larger);
            if (size_ > 0) std::memcpy(bytes.get(), bytes_.get(), size_);
            bytes_ = std::move(bytes);
            capacity_ = larger;
        }
        return bytes_.get() + size_;
    }

    std::string_view prefix_;
    std::string key_;  // a key with its prefix; kept for its memory
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_{0};
    std::size_t size_{0};
    std::size_t count_{0};
};

}  // namespace redlock::detail

#endif
