// What the scripts of read-write locks and semaphores (protocol/shared_scripts.hpp, protocol/semaphore.hpp) do to a server in memory. The writer
// of a read-write lock, and the holder of a slot, are the exclusive locks of redis_model.
#ifndef REDLOCK_TESTING_SHARED_MODEL_HPP
#define REDLOCK_TESTING_SHARED_MODEL_HPP

#include "testing/redis_model.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace redlock::testing {

class shared_model {
public:
    explicit shared_model(redis_model& server) : server_{server} {}

    // What a command about readers, or about the wish of a writer, does, and its answer.
    // Precondition: the server has recorded that `learned` was admitted, if the command votes with tokens.
    detail::reply execute(detail::command const& c, time_point now, std::string_view learned);

    // The code and the number of an answer, as on the wire.
    struct answer {
        int code{0};
        token_number number{0};
        bool operator==(answer const&) const = default;
    };

    struct reader {
        std::string_view name;
        std::string_view value;
        std::chrono::milliseconds ttl{};
        std::chrono::milliseconds retention{};
        token_number floor{0};
        std::optional<token_number> since{};
    };
    // `id` is the one that the client knows.
    answer acquire(std::string_view id, reader const& r, time_point now);

    struct lease {
        std::string_view name;
        std::string_view value;
        token_number token{0};
        std::chrono::milliseconds ttl{};  // not used by confirm
        std::chrono::milliseconds retention{};
        bool recreate{false};  // of an extension, like the next two
        bool refresh{false};
        bool was_writer{false};
    };
    int confirm(std::string_view id, lease const& l, time_point now);
    int extend(std::string_view id, lease const& l, time_point now);
    int release(std::string_view name, std::string_view value, time_point now);
    int want(std::string_view name, std::string_view who, std::chrono::milliseconds ttl, time_point now);

    static std::string want_key(std::string_view name) { return std::string{name} + ":want"; }

private:
    redis_model::entry* find(std::string_view name, time_point now);
    std::optional<token_number> counter_of(std::string_view name, time_point now);
    void enter(std::string_view name, std::string_view value, redis_model::reader_set readers, std::chrono::milliseconds ttl,
               time_point now);

    redis_model& server_;
};

class semaphore_model {
public:
    explicit semaphore_model(redis_model& server) : server_{server} {}

    // What a command about permits does that is no extension, and its answer.
    // Precondition: the server has recorded that `learned` was admitted, if the command votes with tokens.
    detail::reply execute(detail::command const& c, time_point now, std::string_view learned);

    struct answer {
        int code{0};
        token_number number{0};
        std::string map{"-"};  // -7: the version
        std::uint64_t version{0};  // of an answer with a map
        bool operator==(answer const&) const = default;
    };

    struct request {
        std::string_view name;  // of the semaphore
        std::span<std::string const> slots{};
        std::string_view value;
        std::chrono::milliseconds ttl{};
        std::chrono::milliseconds retention{};
        token_number floor{0};
        token_number block{1};
        std::uint64_t permits{1};
        std::size_t count{1};
        std::size_t from{0};
        std::uint64_t version{1};
    };
    answer acquire(std::string_view id, request const& r, time_point now);

    // What is done to the record before the slots of a lease are extended. Returns whether slots that are missing may be set again.
    bool extends(detail::command const& c, std::string_view learned, time_point now);

    // `number` and `map` of the answer: the permits and the version that are kept, and one digit for each slot. The code has no meaning.
    answer look(std::string_view name, std::span<std::string const> slots, time_point now);

    // `map` of the answer is the version that is kept.
    answer keep(std::string_view id, std::string_view name, std::uint64_t version, std::uint64_t permits,
                std::chrono::milliseconds retention, time_point now);

    static std::string permits_key(std::string_view name) { return std::string{name} + ":permits"; }
    static std::string_view name_of(std::string_view permits_key)
    {
        return permits_key.substr(0, permits_key.size() - std::string_view{":permits"}.size());
    }

private:
    struct record {
        std::uint64_t version{0};
        std::uint64_t permits{0};
    };
    std::optional<record> kept(std::string_view name, time_point now);
    void keep(std::string_view name, record const& r, std::chrono::milliseconds retention, time_point now);
    void keep_longer(std::string_view name, std::chrono::milliseconds retention, time_point now);
    answer choose(request const& r, bool newer, time_point now);
    answer repeated(request const& r, std::string const& map, time_point now);

    redis_model& server_;
};

}  // namespace redlock::testing

#endif
