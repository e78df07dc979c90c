// One random schedule of the protocol: scripted clients, whose every request may be late, lost or executed twice, over real
// servers. What happens next is drawn from the seed alone, never from a server's answer or a real clock; time is a count of steps.
#ifndef REDLOCK_TESTS_FENCING_SCHEDULE_HPP
#define REDLOCK_TESTS_FENCING_SCHEDULE_HPP

#include "nodes.hpp"
#include "transitions.hpp"

#include "protocol/admission_scripts.hpp"
#include "protocol/fence_answers.hpp"
#include "protocol/fence_scripts.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redlock::fencing {

inline constexpr std::size_t majority = 2;
inline constexpr std::size_t intact_needed = 2;  // ceil(N/2)
inline constexpr std::size_t client_count = 3;

struct cluster {
    std::array<node, node_count> nodes{};
    testing::redis_server empty{};  // whom a demoted node follows
};

struct outcome {
    std::uint64_t attempts{0};
    std::uint64_t completed{0};
    std::uint64_t losses{0};
    std::uint64_t admissions{0};
    std::uint64_t extensions{0};
    std::uint64_t recreates{0};
    std::string violation{};  // empty: none

    void add(outcome const& other);
};

inline constexpr std::int64_t ttl = 60;  // an attempt's or lease's time, in ticks of the scripted clock

// Of an answer, or of an item in it. An error (READONLY, for instance) is no vote.
inline int number(testing::resp_reply const& answer)
{
    if (answer.is_error()) return -100;
    auto const n = std::stoll(answer.items.empty() ? answer.text : answer.items.front());
    return n < detail::fence_needs_guard ? detail::fence_overtaken : static_cast<int>(n);
}

class schedule {
public:
    // `recorded`: in the proof's terms as well.
    schedule(cluster& world, std::uint64_t seed, mutant m, bool recorded = false);
    outcome run();
    std::string transitions_text() const { return log_.text(); }

private:
    enum class verb : std::uint8_t { acquire, confirm, extend, release };
    enum class phase : std::uint8_t { asking, confirming, leased, over };

    struct attempt {
        std::size_t client{0};
        std::string value{};
        token_number block{1};
        token_number floor{0};
        phase at{phase::asking};
        std::array<std::string, node_count> ids{};        // the attempt is bound to them
        std::array<token_number, node_count> counters{};  // 0: no grant
        std::array<bool, node_count> confirmed{};
        std::size_t refusals{0};
        token_number token{0};
        std::int64_t began{0};      // in steps, which never repeat
        std::int64_t completed{0};  // 0: not
        std::int64_t deadline{0};
        int extension{0};           // its number
        std::int64_t extension_began{0};
        std::array<bool, node_count> extended{};
    };

    struct request {
        verb what{};
        std::size_t on{0};
        std::size_t by{0};      // attempt
        std::string id{};       // that the client has learned
        int extension{0};
        bool executed{false};
        int answer{0};
        token_number counter{0};
        identity shown{};
    };

    // Somebody who saw a loss and sees to the admission.
    struct admission {
        enum class phase : std::uint8_t { marking, waiting, over };
        std::size_t of{0};
        phase at{phase::marking};
        std::string id{};
        std::string mark{};
        std::int64_t drained{0};
    };

    static constexpr int max_extensions = 1'000;  // of an attempt: more than a schedule has steps

    struct likelihoods {
        std::size_t expire{0}, start{0}, use{0}, admit{0}, pass_time{0};  // weights, of about a hundred
        std::size_t drop{0}, repeat{0}, unreachable{0};                   // per cent
        likelihoods() = default;
        explicit likelihoods(simulation::random& chance);
    };

    void act();
    void start_attempt();
    void execute();
    void execute(request& r);
    void look(request& r);
    void deliver();
    void on_acquire(attempt& a, request const& r);
    void on_extend(attempt& a, request const& r);
    void decide(attempt& a);
    void send(verb what, std::size_t by, std::size_t to, std::string id);
    void send_everywhere(verb what, std::size_t by);
    void complete_if_confirmed(attempt& a);
    void end(attempt& a);
    void check_completed(attempt const& a);
    void use_a_lease();
    void write(attempt const& a);
    void lose();
    void notice_loss(std::size_t of);
    void advance_admission();
    void advance(admission& a);
    void mark_loss(admission& a);
    void admit(admission& a);
    std::int64_t high_water_elsewhere(admission const& a, std::vector<std::pair<std::size_t, token_number>>& read);
    void fail(std::string const& what);
    void expire(std::size_t at);
    void give_up_what_is_late();
    // Each extension of an attempt, and each who sees to an admission, by a name of its own.
    static int number_of_extension(std::size_t by, int extension) { return static_cast<int>(by) * max_extensions + extension; }
    std::string name_of(admission const& a) const { return std::to_string(&a - admissions_.data()); }
    std::string fresh_name();
    static words node_keys() { return {"redlock:node", "redlock:hw"}; }
    attempt& of(request const& r) { return attempts_[r.by]; }

    cluster& world_;
    simulation::random chance_;
    mutant mutant_;
    script_set const& scripts_;
    std::string name_;
    transitions log_;
    std::uint64_t seed_;
    bool real_losses_;
    bool with_losses_;
    likelihoods likely_{};
    std::int64_t step_{1};
    std::int64_t clock_{0};
    std::vector<attempt> attempts_{};  // reserved: they never move
    std::vector<request> requests_{};
    std::vector<request> replies_{};
    std::vector<admission> admissions_{};
    std::array<std::array<std::string, node_count>, client_count> known_{};
    std::array<bool, client_count> busy_{};
    token_number register_token_{0};
    std::string register_writer_{};
    int losses_left_{0};
    outcome result_{};
};

}  // namespace redlock::fencing

#endif
