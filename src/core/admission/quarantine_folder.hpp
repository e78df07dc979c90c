// A quarantine_log on disk: a folder with a file for each mark that was seen. A file is written once, complete, under a name made of the
// server's id and the mark, so that processes that write at the same time need no lock and lose nothing of each other's.
#ifndef REDLOCK_CORE_ADMISSION_QUARANTINE_FOLDER_HPP
#define REDLOCK_CORE_ADMISSION_QUARANTINE_FOLDER_HPP

#include "core/admission/quarantine_log.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

// A file, as people may want to see it.
struct quarantine_note {
    quorum::mark_sighting what;
    std::string node;
};

// The text of such a file; none: it is no such text, or was written by another clock than `clock`.
std::string to_text(quarantine_note const& note, std::string_view clock);
std::optional<quarantine_note> note_from(std::string_view text, std::string_view clock);

// Which CLOCK_BOOTTIME this process has: the boot, and what its time namespace adds. Equal texts: one clock. Throws std::runtime_error when
// the system does not say.
std::string clock_of_this_process();

class quarantine_folder final : public quarantine_log {
public:
    // An absolute path. It and its parents are made when there is something to write.
    explicit quarantine_folder(std::string path) : path_{std::move(path)} {}

    std::vector<quorum::mark_sighting> read() override;
    void add(quorum::mark_sighting const& s, std::string const& node) override;
    void remove(std::string const& id, std::string const& mark) override;
    std::string problem() const override { return problem_.empty() ? ignored_ : problem_; }

    // All that read() knows, with names of nodes.
    std::vector<quarantine_note> notes();

    // More notes than this are not kept: the oldest go.
    static constexpr std::size_t max_notes = 256;

private:
    template <class F>
    void in_the_folder(bool make_it, F f) noexcept;

    std::string path_;
    std::string problem_;  // of the last call
    std::string ignored_;  // a file that is not believed
};

}  // namespace redlock::detail

#endif
