// The lines of a transition log, as tests/proof/replay.py reads them.
#ifndef REDLOCK_TESTS_SIMULATION_TRANSITION_TEXT_HPP
#define REDLOCK_TESTS_SIMULATION_TRANSITION_TEXT_HPP

#include <cstdint>
#include <string>
#include <utility>

namespace redlock::simulation {

inline std::string text_of(std::uint64_t n) { return std::to_string(n); }
inline std::string or_dash(std::string const& text) { return text.empty() ? "-" : text; }

class transition_text {
public:
    // A transition, and what it changed on its server.
    void line(std::string text, std::string const& changed = {})
    {
        text_ += std::move(text);
        if (!changed.empty()) text_ += " ;" + changed;
        text_ += '\n';
    }

    std::string const& text() const noexcept { return text_; }

private:
    std::string text_;
};

}  // namespace redlock::simulation

#endif
