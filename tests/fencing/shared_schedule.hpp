// One random schedule of read-write locks, as schedule.hpp has them of the exclusive lock: readers and writers whose every request may be late, lost
// or executed twice, over real servers and, at each step, the models of them. In an honest schedule nothing vanishes from a node before its time:
// then it is also checked that no writer holds beside anybody.
#ifndef REDLOCK_TESTS_FENCING_SHARED_SCHEDULE_HPP
#define REDLOCK_TESTS_FENCING_SHARED_SCHEDULE_HPP

#include "twin.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace redlock::fencing {

struct shared_world {
    static constexpr std::size_t node_count = 3;
    std::array<node, node_count> nodes{};
    testing::redis_server empty{};
};

struct shared_outcome {
    std::uint64_t attempts{0};
    std::uint64_t readers{0};  // that were complete
    std::uint64_t writers{0};
    std::uint64_t downgrades{0};
    std::uint64_t extensions{0};
    std::uint64_t together{0};  // readers that were complete while another one held
    std::uint64_t losses{0};
    std::string violation{};
    void add(shared_outcome const& other);
};

class shared_schedule {
public:
    // `strict`: the models judge, too.
    shared_schedule(shared_world& world, shared_scripts const& scripts, std::uint64_t seed, shared_mutant m, bool strict);
    shared_outcome run();

private:
    static constexpr std::size_t node_count = shared_world::node_count;
    static constexpr std::size_t majority = 2;
    static constexpr std::size_t client_count = 4;
    static constexpr std::int64_t ttl = 60;  // in ticks

    enum class verb : std::uint8_t { acquire, confirm, extend, release };
    enum class phase : std::uint8_t { asking, confirming, leased, over };

    struct attempt {
        std::size_t client{0};
        bool wrote{false};  // began as a writer
        bool reads{false};
        std::string value{};
        std::int64_t ttl_ms{0};
        phase at{phase::asking};
        std::array<std::string, node_count> ids{};
        std::array<token_number, node_count> counters{};
        std::array<bool, node_count> confirmed{};
        std::size_t refusals{0};
        token_number token{0};
        std::int64_t began{0};  // in steps
        std::int64_t completed{0};  // 0: not
        std::int64_t deadline{0};  // in ticks, like the next but one
        int extension{0};
        std::int64_t extension_sent{0};
        std::int64_t extension_began{0};
        std::array<bool, node_count> extended{};
    };

    struct request {
        verb what{};
        std::size_t on{0};
        std::size_t by{0};
        bool as_reader{false};
        std::string id{};
        int extension{0};
        bool executed{false};
        coded answer{};
        identity shown{};
    };

    void act();
    void start_attempt();
    void execute();
    void execute(request& r);
    void deliver();
    void on_acquire(attempt& a, request const& r);
    void on_extend(attempt& a, request const& r);
    void decide(attempt& a);
    void complete_if_confirmed(attempt& a);
    void end(attempt& a);
    void use_a_lease();
    void expire(std::size_t at);
    void lose();
    void admit();
    void send(verb what, std::size_t by, std::size_t to, std::string id);
    void send_everywhere(verb what, std::size_t by);
    void check_tokens(attempt const& a);
    void check_exclusion();
    std::size_t votes_needed(attempt const& a) const;
    bool is_valid(attempt const& a) const { return a.at == phase::leased && clock_ < a.deadline; }
    void fail(std::string const& what);
    std::size_t index_of(attempt const& a) const { return static_cast<std::size_t>(&a - attempts_.data()); }

    shared_world& world_;
    std::deque<twin> twins_{};
    simulation::random chance_;
    shared_mutant mutant_;
    std::uint64_t seed_;
    bool honest_;
    std::size_t drop_, repeat_, expire_, start_;
    std::int64_t step_{1};
    std::int64_t clock_{0};
    std::vector<attempt> attempts_{};
    std::vector<request> requests_{};
    std::vector<request> replies_{};
    std::array<std::array<std::string, node_count>, client_count> known_{};
    std::array<std::array<std::optional<token_number>, node_count>, client_count> since_{};
    std::array<bool, client_count> busy_{};
    std::array<std::map<std::string, std::int64_t>, node_count> kept_until_{};  // in ticks
    std::optional<std::size_t> lost_{};  // a node that is not admitted
    std::int64_t drained_{0};
    std::string mark_{};
    int losses_left_{0};
    shared_outcome result_{};
};

}  // namespace redlock::fencing

#endif
