#include "cli/run/offspring.hpp"

#include "cli/output/text.hpp"

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>

#include <fcntl.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

namespace fs = std::filesystem;

// Empty where the process that the file is about has ended, also between open and read: a stream would throw then.
std::string read(std::string const& file)
{
    int const fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {};
    std::string text;
    char part[4096];
    ssize_t size = 0;
    while ((size = ::read(fd, part, sizeof part)) > 0) text.append(part, static_cast<std::size_t>(size));
    ::close(fd);
    return size < 0 ? std::string{} : text;
}

// Reads /proc/PID/stat: `PID (NAME) STATE PPID PGRP ...`, with the start time as the 22nd field. NAME may contain spaces and parentheses. None: the
// process has ended.
std::optional<process> read_process(pid_t pid)
{
    auto const text = read("/proc/" + std::to_string(pid) + "/stat");
    auto const begin = text.find('('), end = text.rfind(')');
    if (begin == std::string::npos || end == std::string::npos) return std::nullopt;
    std::istringstream fields{text.substr(end + 1)};
    std::string state, skipped;
    pid_t parent = 0;
    process p{pid, 0, 0, text.substr(begin + 1, end - begin - 1)};
    fields >> state >> parent >> p.group;
    for (int i = 6; i < 22; ++i) fields >> skipped;
    fields >> p.started;
    if (!fields || state == "Z" || state == "X") return std::nullopt;
    return p;
}

// Linux lists a child under the thread that started it, or, if it is an orphan, under any thread of its new parent. So this looks at all threads.
std::vector<pid_t> children_of(pid_t pid)
{
    std::vector<pid_t> all;
    std::error_code gone;  // the process may end at each step
    fs::directory_iterator task{"/proc/" + std::to_string(pid) + "/task", gone};
    for (; !gone && task != fs::directory_iterator{}; task.increment(gone)) {
        std::istringstream list{read(task->path() / "children")};
        for (pid_t child = 0; list >> child;) all.push_back(child);
    }
    return all;
}

constexpr int max_walks = 20;  // of processes that start others all the time

bool is_among(process const& p, std::vector<process> const& all)
{
    return std::any_of(all.begin(), all.end(), [&](process const& a) { return a.pid == p.pid && a.started == p.started; });
}

}  // namespace

// A process whose parent ends during a walk may be among the children of neither, so this walks until nothing new is found.
std::vector<process> descendants_of(pid_t pid, std::vector<process> const& except)
{
    std::vector<process> all;
    bool is_new = true;
    for (int walk = 0; is_new && walk < max_walks; ++walk) {
        is_new = false;
        std::vector<pid_t> parents{pid};
        while (!parents.empty()) {
            pid_t const parent = parents.back();
            parents.pop_back();
            for (pid_t const child : children_of(parent)) {
                auto const p = read_process(child);
                if (!p || is_among(*p, except)) continue;
                parents.push_back(child);
                if (is_among(*p, all)) continue;
                all.push_back(*p);
                is_new = true;
            }
        }
    }
    return all;
}

offspring::offspring(pid_t root) : root_{root}, earlier_{descendants_of(root, {})} {}

std::vector<process> offspring::outside(pid_t group, pid_t guardian_pid) const
{
    auto all = descendants_of(root_, earlier_);
    std::erase_if(all, [&](process const& p) { return p.group == group || p.pid == guardian_pid; });
    return all;
}

bool is_running(pid_t pid, std::uint64_t started) noexcept
{
    auto const now = read_process(pid);
    return now && now->started == started;
}

void kill_process(pid_t pid, std::uint64_t started, int signal) noexcept
{
    if (is_running(pid, started)) ::kill(pid, signal);
}

std::string in_words(std::vector<process> const& all)
{
    constexpr std::size_t max_named = 10;
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), max_named); ++i)
        text += (i == 0 ? "" : ", ") + std::to_string(all[i].pid) + ' ' + printable(all[i].name);
    return all.size() > max_named ? text + " and " + std::to_string(all.size() - max_named) + " more" : text;
}

}  // namespace redlock::cli
