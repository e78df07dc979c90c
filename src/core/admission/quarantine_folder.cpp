#include "core/admission/quarantine_folder.hpp"

#include "core/random_value.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace redlock::detail {

namespace {

constexpr std::string_view first_line = "redlock quarantine 1";
constexpr std::string_view last_line = "end";
constexpr std::size_t max_size = 4'096;  // of a file
constexpr std::string_view unfinished = "redlock-new-";
constexpr auto unfinished_for_ever = std::chrono::hours{1};

class descriptor {
public:
    explicit descriptor(int number) noexcept : number_{number} {}
    descriptor(descriptor const&) = delete;
    descriptor& operator=(descriptor const&) = delete;
    ~descriptor()
    {
        if (number_ >= 0) ::close(number_);
    }
    int get() const noexcept { return number_; }
    int take() noexcept { return std::exchange(number_, -1); }

private:
    int number_;
};

[[noreturn]] void fail(std::string const& what) { throw std::runtime_error{what}; }
[[noreturn]] void fail_with(int code) { fail(std::generic_category().message(code)); }

bool is_word(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; }

bool is_of_words(std::string_view text) { return !text.empty() && std::all_of(text.begin(), text.end(), is_word); }

// Of a group, a cluster or a set that was changed, it begins with what it is bound to, and a colon.
bool is_id(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return is_word(c) || c == ':'; });
}

// What anybody else may have made is as good as nothing.
std::string objection_to(struct stat const& facts)
{
    if (facts.st_uid != ::geteuid()) return "it belongs to another user";
    if ((facts.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "other users may write there (chmod go-w)";
    return "";
}

std::string read_all(int file)
{
    std::string text(max_size + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        auto const count = ::read(file, text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_with(errno);
        if (count == 0) break;
        size += static_cast<std::size_t>(count);
    }
    text.resize(size);
    return text;
}

std::string read_of_system(char const* path)
{
    descriptor const file{::open(path, O_RDONLY | O_CLOEXEC)};
    if (file.get() < 0) fail(std::string{path} + ": " + std::generic_category().message(errno));
    return read_all(file.get());
}

void write_all(int file, std::string_view text)
{
    while (!text.empty()) {
        auto const count = ::write(file, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) fail_with(errno);
        text.remove_prefix(static_cast<std::size_t>(count));
    }
}

// Names of what is in a folder; a bounded number of them.
std::vector<std::string> names_in(int folder)
{
    descriptor again{::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (again.get() < 0) fail_with(errno);
    std::unique_ptr<DIR, int (*)(DIR*)> const list{::fdopendir(again.get()), ::closedir};
    if (!list) fail_with(errno);
    again.take();
    std::vector<std::string> names;
    while (dirent const* const each = ::readdir(list.get())) {
        if (each->d_name[0] != '.') names.emplace_back(each->d_name);
        if (names.size() >= 8 * quarantine_folder::max_notes) break;
    }
    return names;
}

// One of ours that says when another clock showed something.
bool is_of_another_clock(std::string_view text, std::string_view clock)
{
    auto const begins = std::string{first_line} + "\nclock ";
    return text.starts_with(begins) && !text.substr(begins.size()).starts_with(std::string{clock} + '\n') && text.ends_with("\nend\n");
}

std::string name_of(std::string_view id, std::string_view mark) { return std::string{id} + '.' + std::string{mark}; }

// One file, as far as it may be believed.
struct seen_file {
    std::optional<quarantine_note> note{};
    bool is_ours{false};       // whatever it says, one of us has written it
    std::string objection{};
};

seen_file read_note(int folder, std::string const& name, std::string_view clock)
{
    descriptor const file{::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    struct stat facts{};
    if (file.get() < 0)
        return {.objection = errno == ENOENT ? "" : errno == ELOOP ? "it is a link" : std::generic_category().message(errno)};
    if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return {.objection = "it is no file"};
    if (auto objection = objection_to(facts); !objection.empty()) return {.objection = std::move(objection)};
    auto const text = read_all(file.get());
    seen_file f{.note = note_from(text, clock), .is_ours = text.starts_with(first_line)};
    if (f.note && name != name_of(f.note->what.id, f.note->what.mark)) f.note.reset();
    if (!f.note && !is_of_another_clock(text, clock)) f.objection = "it is damaged";
    return f;
}

void write_note(int folder, quarantine_note const& note, std::string const& clock)
{
    auto const name = name_of(note.what.id, note.what.mark);
    auto const temporary = std::string{unfinished} + random_value();
    {
        descriptor const file{::openat(folder, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)};
        if (file.get() < 0) fail_with(errno);
        try {
            write_all(file.get(), to_text(note, clock));
        } catch (...) {
            ::unlinkat(folder, temporary.c_str(), 0);
            throw;
        }
    }
    // The first process has seen it first. What says nothing is replaced.
    bool done = ::linkat(folder, temporary.c_str(), folder, name.c_str(), 0) == 0;
    if (!done) {
        auto const there = read_note(folder, name, clock).note;
        done = (there && there->what.seen <= note.what.seen) || ::renameat(folder, temporary.c_str(), folder, name.c_str()) == 0;
    }
    int const code = errno;
    ::unlinkat(folder, temporary.c_str(), 0);
    if (!done) fail_with(code);
}

// What was left by a process that was killed, or by another boot; and the oldest, where there are too many. Nothing that is not ours: the
// folder may be the wrong one.
void clean(int folder, std::string const& clock)
{
    std::vector<std::pair<quorum::time_point, std::string>> kept;
    for (std::string const& name : names_in(folder)) {
        struct stat facts{};
        if (name.starts_with(unfinished)) {
            bool const old = ::fstatat(folder, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
                             std::chrono::seconds{std::time(nullptr) - facts.st_mtim.tv_sec} > unfinished_for_ever;
            if (old) ::unlinkat(folder, name.c_str(), 0);
        } else if (auto const f = read_note(folder, name, clock); f.note) {
            kept.emplace_back(f.note->what.seen, name);
        } else if (f.is_ours) {
            ::unlinkat(folder, name.c_str(), 0);
        }
    }
    if (kept.size() <= quarantine_folder::max_notes) return;
    std::sort(kept.begin(), kept.end());
    kept.resize(kept.size() - quarantine_folder::max_notes);
    for (auto const& each : kept) ::unlinkat(folder, each.second.c_str(), 0);
}

void make_folders(std::string const& path)
{
    for (std::size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
        if (::mkdir(path.substr(0, at).c_str(), 0700) != 0 && errno != EEXIST) fail_with(errno);
        if (at == std::string::npos) return;
    }
}

// The rest of a line that begins with `word`; none: it does not.
std::optional<std::string_view> rest_of(std::string_view& text, std::string_view word)
{
    auto const end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (end == std::string_view::npos || !line.starts_with(word)) return std::nullopt;
    line.remove_prefix(word.size());
    return line;
}

}  // namespace

std::string to_text(quarantine_note const& note, std::string_view clock)
{
    std::string text{first_line};
    text += "\nclock " + std::string{clock} + "\nid " + note.what.id + "\nmark " + note.what.mark;
    text += "\nseen " + std::to_string(note.what.seen.time_since_epoch().count()) + "\nnode " + note.node + '\n' + std::string{last_line} +
            '\n';
    return text;
}

std::optional<quarantine_note> note_from(std::string_view text, std::string_view clock)
{
    auto const first = rest_of(text, first_line), its_clock = rest_of(text, "clock "), id = rest_of(text, "id "),
               mark = rest_of(text, "mark "), seen = rest_of(text, "seen "), node = rest_of(text, "node "), last = rest_of(text, last_line);
    if (!id || !mark || !seen || !node || !text.empty()) return std::nullopt;
    if (first != "" || last != "" || its_clock != clock || !is_id(*id) || !is_of_words(*mark)) return std::nullopt;
    std::int64_t count = 0;
    auto const [stop, error] = std::from_chars(seen->data(), seen->data() + seen->size(), count);
    if (error != std::errc{} || stop != seen->data() + seen->size() || count < 0) return std::nullopt;
    return quarantine_note{{std::string{*id}, std::string{*mark}, quorum::time_point{quorum::duration{count}}}, std::string{*node}};
}

std::string clock_of_this_process()
{
    auto boot = read_of_system("/proc/sys/kernel/random/boot_id");
    while (boot.ends_with('\n')) boot.pop_back();
    if (!is_of_words(boot)) fail("/proc/sys/kernel/random/boot_id says nothing");
    std::array<struct stat, 2> spaces{};
    if (::stat("/proc/self/ns/time", &spaces[0]) != 0) return boot + " +0 0";  // a kernel without time namespaces
    // What the system tells is what our children will have.
    bool const ours = ::stat("/proc/self/ns/time_for_children", &spaces[1]) == 0 && spaces[0].st_ino == spaces[1].st_ino;
    if (!ours) fail("this process has another time namespace than its children");
    auto const offsets = read_of_system("/proc/self/timens_offsets");
    auto at = offsets.find("boottime");
    if (at == std::string::npos) fail("/proc/self/timens_offsets says nothing");
    std::string words;
    for (at += 8; at < offsets.size() && offsets[at] != '\n'; ++at)
        if (offsets[at] != ' ' || (!words.empty() && words.back() != ' ')) words += offsets[at];
    return boot + " +" + words;
}

// What goes wrong there is no reason to fail: then processes wait anew, as they would without it.
template <class F>
void quarantine_folder::in_the_folder(bool make_it, F f) noexcept
try {
    problem_.clear();
    if (make_it) make_folders(path_);
    descriptor const folder{::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)};
    if (folder.get() < 0 && errno == ENOENT && !make_it) return;
    struct stat facts{};
    if (folder.get() < 0 || ::fstat(folder.get(), &facts) != 0) fail_with(errno);
    if (auto const objection = objection_to(facts); !objection.empty()) fail(objection);
    f(folder.get());
} catch (std::exception const& error) {
    problem_ = "other processes will wait anew, as " + path_ + " cannot be used: " + error.what();
}

std::vector<quarantine_note> quarantine_folder::notes()
{
    std::vector<quarantine_note> all;
    in_the_folder(false, [&](int folder) {
        auto const clock = clock_of_this_process();
        for (std::string const& name : names_in(folder)) {
            if (name.starts_with(unfinished)) continue;
            auto f = read_note(folder, name, clock);
            if (f.note) all.push_back(std::move(*f.note));
            if (!f.objection.empty()) ignored_ = path_ + '/' + name + " is ignored: " + f.objection;
        }
    });
    return all;
}

std::vector<quorum::mark_sighting> quarantine_folder::read()
{
    std::vector<quorum::mark_sighting> all;
    for (quarantine_note& note : notes()) all.push_back(std::move(note.what));
    return all;
}

void quarantine_folder::add(quorum::mark_sighting const& s, std::string const& node)
{
    if (!is_id(s.id) || !is_of_words(s.mark)) return;
    in_the_folder(true, [&](int folder) {
        auto const clock = clock_of_this_process();
        if (auto const there = read_note(folder, name_of(s.id, s.mark), clock).note; there && there->what.seen <= s.seen) return;
        write_note(folder, {s, node}, clock);
        clean(folder, clock);
    });
}

void quarantine_folder::remove(std::string const& id, std::string const& mark)
{
    if (!is_id(id) || !is_of_words(mark)) return;
    in_the_folder(false, [&](int folder) { ::unlinkat(folder, name_of(id, mark).c_str(), 0); });
}

}  // namespace redlock::detail
