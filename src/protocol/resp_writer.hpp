// The words of one Redis command behind its name, as bytes: Boost.Redis encodes word by word, through strings and with a lookup for
// each, which costs more than everything else that is done to a message.
#ifndef REDLOCK_PROTOCOL_RESP_WRITER_HPP
#define REDLOCK_PROTOCOL_RESP_WRITER_HPP

#include "base/random_bytes.hpp"

#include <boost/redis/request.hpp>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
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
        return end_word(copy(copy(begin_word(first.size() + second.size()), first), second));
    }

    // The same, but the first part is the digits of these bytes.
    resp_writer& add(random_bytes const& first, std::string_view second)
    {
        return end_word(copy(put_digits(begin_word(digits_of_random_bytes + second.size()), first), second));
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

    // The command goes behind the others of the request, and the words are gone.
    void push_to(boost::redis::request& request, std::string_view name)
    {
        assert(count_ > 0);
        request.push_range(name, position{*this, 0}, position{*this, count_});
        size_ = count_ = 0;
    }

private:
    // All bytes stand in the place of the first word.
    struct piece {
        std::string_view bytes;

        friend void boost_redis_to_bulk(std::string& to, piece const& p) { to.append(p.bytes); }
    };

    // Boost.Redis takes the number of words from the distance, and appends each word: the first brings all bytes, so ++ goes to the end.
    struct position {
        using iterator_category = std::random_access_iterator_tag;
        using value_type = piece;
        using difference_type = std::ptrdiff_t;
        using pointer = piece const*;
        using reference = piece;

        position(resp_writer const& w, std::size_t i) noexcept : words{&w}, index{i} {}
        piece operator*() const noexcept { return {index == 0 ? std::string_view{words->bytes_.get(), words->size_} : std::string_view{}}; }
        position& operator++() noexcept
        {
            index = words->count_;
            return *this;
        }
        bool operator==(position const& other) const noexcept { return index == other.index; }
        friend difference_type operator-(position const& a, position const& b) noexcept
        {
            return static_cast<difference_type>(a.index) - static_cast<difference_type>(b.index);
        }

        resp_writer const* words;
        std::size_t index;
    };

    // Where the word goes.
    char* begin_word(std::size_t length)
    {
        char* at = room_for(length + 32);  // '$', at most 20 digits, two line ends
        *at++ = '$';
        at = length < 100 ? put_short(at, length) : std::to_chars(at, at + 20, length).ptr;
        return copy(at, "\r\n");
    }
    resp_writer& end_word(char* at)
    {
        size_ = static_cast<std::size_t>(copy(at, "\r\n") - bytes_.get());
        ++count_;
        return *this;
    }

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
