#include "crew.hpp"

#include "timing.hpp"

#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <poll.h>

namespace redlock::faults {
namespace {

std::filesystem::path this_program() { return std::filesystem::read_symlink("/proc/self/exe"); }

bool eventually(std::function<bool()> const& condition)
{
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) return false;
        ::poll(nullptr, 0, 5);
    }
    return true;
}

std::string text_of(std::filesystem::path const& file)
{
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

crew::crew(std::filesystem::path folder, std::uint64_t seed, std::string const& register_address, std::vector<work_place> places)
    : folder_{std::move(folder)}, seed_{seed}, places_{std::move(places)}
{
    auto const port = folder_ / "register.port";
    register_.emplace(this_program(),
                      std::vector<std::string>{"register", "--address", register_address, "--port-file", port, "--log",
                                               folder_ / "register.jsonl"},
                      folder_ / "register.err");
    if (!eventually([&] { return std::filesystem::exists(port); }))
        throw std::runtime_error{"the register did not start: " + text_of(folder_ / "register.err")};
    std::ifstream{port} >> register_port_;
    std::filesystem::remove(port);
}

void crew::start()
{
    for (std::size_t i = 0; i < worker_count; ++i) launch(i, true);
    auto const at_work = [&] {
        for (auto const& w : workers_)
            if (text_of(w.lives.back().log).find("\"held\"") == std::string::npos) return false;
        return true;
    };
    if (eventually(at_work)) return;
    std::string message = "not all workers got a lock";
    for (std::size_t i = 0; i < worker_count; ++i) message += last_words(i);
    throw std::runtime_error{message};
}

// In seeds: each life of a worker has another one.
constexpr std::size_t max_lives = 1'000;

void crew::launch(std::size_t worker, bool bootstrap)
{
    auto& w = workers_[worker];
    auto const name = "w" + std::to_string(worker) + "." + std::to_string(w.lives.size());
    auto const log = folder_ / (name + ".jsonl");
    auto const& place = places_.at(worker);
    std::vector<std::string> command_line = place.under;
    command_line.insert(command_line.end(), {this_program().string(), "worker", "--name", name, "--log", log.string(), "--seed",
                                             std::to_string((seed_ * max_lives + w.lives.size()) * worker_count + worker),
                                             "--register-port", std::to_string(register_port_), "--register-host", place.register_host});
    for (auto const& url : place.nodes) command_line.insert(command_line.end(), {"--node", url});
    command_line.insert(command_line.end(), {"--kind", std::to_string(static_cast<int>(place.kind))});
    if (bootstrap) command_line.emplace_back("--bootstrap");
    w.lives.push_back({log, {}});
    w.process.emplace(command_line.front(), std::vector<std::string>{command_line.begin() + 1, command_line.end()},
                      folder_ / ("w" + std::to_string(worker) + ".err"));
}

void crew::kill(std::size_t worker)
{
    auto& w = workers_[worker];
    if (!w.process->running()) throw std::runtime_error{"a worker has crashed:" + last_words(worker)};
    w.process->kill();
    w.lives.back().killed = boot_clock::now();
}

std::string crew::last_words(std::size_t worker) const
{
    return "\nw" + std::to_string(worker) + ": " + text_of(folder_ / ("w" + std::to_string(worker) + ".err"));
}

std::vector<std::string> crew::crashed()
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < worker_count; ++i)
        if (!workers_[i].process->running() && !workers_[i].lives.back().killed) all.push_back("a worker has crashed:" + last_words(i));
    if (!register_->running()) all.push_back("the register has crashed: " + text_of(folder_ / "register.err"));
    return all;
}

std::vector<std::string> crew::finish()
{
    std::vector<std::string> wrong;
    for (auto& w : workers_)
        if (w.process->running()) ::kill(w.process->pid(), SIGTERM);
    for (std::size_t i = 0; i < worker_count; ++i) {
        auto const code = workers_[i].process->wait(patience);
        if (code != 0)
            wrong.push_back((code ? "a worker ended with " + std::to_string(*code) : "a worker does not end") + ":" + last_words(i));
    }
    register_->end(SIGTERM, patience);
    if (register_->exit_code() != 0) wrong.push_back("the register has crashed: " + text_of(folder_ / "register.err"));
    return wrong;
}

history crew::read() const
{
    history all;
    for (auto const& w : workers_) {
        for (auto const& one : w.lives) {
            auto record = read_worker(one.log);
            record.killed = one.killed;
            all.workers.push_back(std::move(record));
        }
    }
    all.writes = read_register(folder_ / "register.jsonl");
    return all;
}

}  // namespace redlock::faults
