// A real server and the model of one (src/testing), under the same scripts of read-write locks: what they answer and keep is compared at each step.
#ifndef REDLOCK_TESTS_FENCING_TWIN_HPP
#define REDLOCK_TESTS_FENCING_TWIN_HPP

#include "nodes.hpp"

#include "testing/redis_model.hpp"
#include "testing/shared_model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::fencing {

// What is left out of the scripts of read-write locks, or of what clients do with their answers.
enum class shared_mutant : std::uint8_t {
    none,
    first_is_low,  // the reader that makes the set does not raise the counter
    stale_set,  // a set of before an admission is joined as it is
    equal_epoch,  // confirm: epoch <= token
    no_epoch,  // extend: whatever the epoch is
    downgrade_low,  // a downgrade does not raise the counter
    wipe,  // a reader's release deletes the set
    own_end,  // the set ends with the reader that came last
    one_round,  // a reader's token is the maximum of one round
    one_vote  // a reader needs one vote
};
inline constexpr std::array<std::string_view, 10> shared_mutant_names{"none",      "first_is_low",  "stale_set", "equal_epoch",
                                                                      "no_epoch",  "downgrade_low", "wipe",      "own_end",
                                                                      "one_round", "one_vote"};

struct shared_scripts {
    detail::script acquire;
    detail::script confirm;
    detail::script extend;
    detail::script release;
};
shared_scripts const& scripts_of(shared_mutant m);

// The code and the counter of an answer. An error has the code -100.
struct coded {
    int code{0};
    token_number counter{0};
    bool operator==(coded const&) const = default;
};

class twin {
public:
    // `strict`: what the model answers otherwise is a difference. Mutants of scripts go without.
    twin(node& real, shared_scripts const& scripts, bool strict) : real_{real}, scripts_{scripts}, strict_{strict} {}

    twin(twin const&) = delete;
    twin& operator=(twin const&) = delete;

    void reset(std::string const& name);

    struct want {
        std::string value{};
        std::string id{};
        std::int64_t ttl_ms{100'000};
        token_number token{0};  // acquire: the floor
        std::optional<token_number> since{};
        bool recreate{true};
        bool was_writer{false};
    };
    coded write_acquire(want const& w);
    coded write_confirm(want const& w);
    coded write_extend(want const& w);
    coded read_acquire(want const& w);
    coded read_confirm(want const& w);
    coded read_extend(want const& w);
    coded release(want const& w);
    coded leave_wish(want const& w);
    void forget_wish();

    // The entry of this value is over, or the whole key is gone.
    void age(std::string const& value);
    void vanish();
    std::vector<std::string> holders();

    void remember();
    void lose(loss what, testing::redis_server& empty);
    void admission_changed();

    // What differed first; empty: nothing.
    std::string const& difference() const noexcept { return difference_; }

private:
    using command = detail::command;

    coded compared(std::string const& what, testing::resp_reply const& real, std::function<coded()> const& model);
    void compare_keys(std::string const& what);
    std::string shown_by_real();
    std::string shown_by_model();
    std::string end_of(std::int64_t ms) const;
    command exclusive(detail::verb what, want const& w) const;

    node& real_;
    shared_scripts const& scripts_;
    bool strict_;
    std::string name_{};
    testing::redis_model model_{};
    testing::shared_model readers_{model_};
    std::int64_t now_ms_{0};  // of the server at the reset; the model's clock stands still there
    std::string difference_{};
    std::vector<testing::redis_model::entry> old_entries_{};
    std::optional<token_number> old_counter_{};
    std::string old_set_{};  // of the real server, as DUMP says it
};

}  // namespace redlock::fencing

#endif
