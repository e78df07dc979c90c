// Counts messages in a stream of RESP.
#ifndef REDLOCK_BENCHMARKS_SPEED_RESP_COUNTER_HPP
#define REDLOCK_BENCHMARKS_SPEED_RESP_COUNTER_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Counts messages of RESP2 and RESP3 in bytes that come in pieces of any size. A command is a message, too. Attributes and streamed types are not
/// supported, since no server sends them here.
class resp_counter {
public:
    /// Throws `std::runtime_error` for bytes that are not RESP, or a type that is not supported.
    void take(std::string_view piece);

    std::size_t messages() const noexcept { return messages_; }  ///< Complete ones so far, without pushes.
    bool between_messages() const noexcept { return missing_elements_.empty() && text_left_ == 0 && line_.empty(); }

private:
    void on_line();
    void end_element();

    std::vector<std::size_t> missing_elements_;  // of each level
    std::string line_;
    std::size_t text_left_{0};
    std::size_t messages_{0};
    bool in_push_{false};
};

}  // namespace bench

#endif
