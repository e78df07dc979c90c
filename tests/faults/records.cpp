#include "records.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace redlock::faults {
namespace {

using nlohmann::json;

template <class Each>
void for_each_line(std::filesystem::path const& file, Each each)
{
    std::ifstream in{file};
    if (!in) throw std::runtime_error{"cannot read " + file.string()};
    std::size_t number = 0;
    for (std::string line; std::getline(in, line);) {
        ++number;
        if (in.eof()) return;  // no end of line
        try {
            each(json::parse(line));
        } catch (std::exception const& error) {
            throw std::runtime_error{file.string() + ":" + std::to_string(number) + ": " + error.what()};
        }
    }
}

moment moment_at(json const& line, char const* key) { return to_moment(line.at(key).get<std::int64_t>()); }

write_record write_of(json const& line)
{
    write_record w;
    w.worker = line.at("worker");
    w.name = line.at("name");
    w.token = line.at("token");
    w.value = line.at("value");
    w.at = moment_at(line, "t");
    w.answer = line.at("answer");
    w.reads = line.value("reads", false);
    return w;
}

sample_record sample_of(json const& line)
{
    return {.at = moment_at(line, "t"),
            .extended = line.at("extended"),
            .admission = line.at("admission"),
            .rss_kb = line.at("rss_kb"),
            .descriptors = line.at("descriptors")};
}

}  // namespace

std::int64_t to_number(moment at) noexcept { return at.time_since_epoch().count(); }
moment to_moment(std::int64_t ns) noexcept { return moment{std::chrono::nanoseconds{ns}}; }

record_file::record_file(std::filesystem::path const& file) : fd_{::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644)}
{
    if (fd_ < 0) throw std::system_error{errno, std::generic_category(), "cannot write " + file.string()};
}

record_file::~record_file() { ::close(fd_); }

void record_file::write(json const& line)
{
    std::string const text = line.dump() + '\n';
    if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        throw std::system_error{errno, std::generic_category(), "cannot write the log"};
}

worker_record read_worker(std::filesystem::path const& file)
{
    worker_record worker;
    std::map<std::uint64_t, std::size_t> open;  // id -> index of the lease
    for_each_line(file, [&](json const& line) {
        std::string const what = line.at("e");
        if (what == "start") {
            worker.name = line.at("worker");
        } else if (what == "held") {
            open[line.at("id")] = worker.leases.size();
            lease_record lease;
            lease.worker = worker.name;
            lease.names = line.at("names");
            lease.fenced = line.at("fenced");
            lease.reads = line.value("reads", false);
            lease.downgraded = line.value("downgraded", false);
            lease.permits = line.value("permits", 0U);
            lease.token = line.at("token");
            lease.asked = moment_at(line, "asked");
            lease.held = moment_at(line, "t");
            lease.valid_until = moment_at(line, "until");
            worker.leases.push_back(std::move(lease));
        } else if (what == "still" || what == "over") {
            auto const at = open.find(line.at("id"));
            if (at == open.end()) throw std::runtime_error{"a lease that nobody holds"};
            auto& lease = worker.leases[at->second];
            lease.valid_until = moment_at(line, "until");
            if (what == "still") return;
            lease.over = moment_at(line, "t");
            lease.lost = line.at("lost");
            open.erase(at);
        } else if (what == "write") {
            worker.acknowledged.push_back(write_of(line));
        } else if (what == "failed") {
            ++worker.failures[line.at("why")];
        } else if (what == "sample") {
            worker.samples.push_back(sample_of(line));
        } else if (what == "end") {
            worker.finished = true;
            worker.counters = line.at("counters");
        } else {
            throw std::runtime_error{"an unknown line: " + what};
        }
    });
    return worker;
}

std::vector<write_record> read_register(std::filesystem::path const& file)
{
    std::vector<write_record> writes;
    for_each_line(file, [&](json const& line) { writes.push_back(write_of(line)); });
    return writes;
}

}  // namespace redlock::faults
