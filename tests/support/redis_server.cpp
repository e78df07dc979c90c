#include "redis_server.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

#include <poll.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr int max_ports = 10;
constexpr auto pause_between_pings = 5ms;
constexpr auto ping_timeout = 500ms;

std::filesystem::path server_program(std::string const& name)
{
    try {
        return find_program(name);
    } catch (std::runtime_error const& e) {
        if (name != "redis-server") throw;
        throw std::runtime_error{std::string{e.what()} + " (on Debian: apt-get install redis-server)"};
    }
}

std::string percent_encoded(std::string const& text)
{
    constexpr char const* digits = "0123456789ABCDEF";
    std::string encoded;
    for (char const c : text) {
        bool const plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        auto const byte = static_cast<unsigned char>(c);
        if (plain) encoded += c;
        else ((encoded += '%') += digits[byte >> 4]) += digits[byte & 15];
    }
    return encoded;
}

}  // namespace

std::string default_server()
{
    char const* const named = std::getenv("REDLOCK_TEST_SERVER");
    return named ? named : "redis-server";
}

redis_server::redis_server(redis_server_options options)
    : options_{std::move(options)}, program_{server_program(options_.binary)}, folder_{"redlock-server-"}
{
    for (int tries = 0; tries < max_ports; ++tries) {
        auto const family = options_.ipv6 ? loopback::ipv6 : loopback::ipv4;
        port_ = free_port(family);
        for (tls_port_ = 0; !options_.tls.empty() && (tls_port_ == 0 || tls_port_ == port_);) tls_port_ = free_port(family);
        if (launch() == outcome::answers) return;
    }
    fail("every port was taken by somebody else meanwhile");
}

std::string redis_server::url() const
{
    std::string const user = options_.requirepass.empty() ? "" : "default:" + percent_encoded(options_.requirepass) + "@";
    return "redis://" + user + (options_.ipv6 ? "[::1]" : host()) + ":" + std::to_string(port_);
}

void redis_server::kill() noexcept
{
    if (process_) process_->kill();
}

void redis_server::restart()
{
    kill();
    if (launch() != outcome::answers) fail("port " + std::to_string(port_) + " was taken by somebody else meanwhile");
}

resp_reply redis_server::ask(std::vector<std::string> const& words, std::chrono::milliseconds timeout) const
{
    resp_client client{host(), port_, timeout};
    if (!options_.requirepass.empty()) {
        auto const welcome = client.ask({"AUTH", options_.requirepass});
        if (welcome.is_error()) throw std::runtime_error{"AUTH: " + welcome.text};
    }
    return client.ask(words);
}

std::string redis_server::command(std::vector<std::string> const& words, std::chrono::milliseconds timeout) const
{
    auto const reply = ask(words, timeout);
    if (reply.is_error()) throw std::runtime_error{(words.empty() ? "" : words.front()) + ": " + reply.text};
    return reply.to_string();
}

std::string redis_server::log_tail() const
{
    constexpr std::size_t max_bytes = 2'000;
    std::ifstream file{log_file()};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (text.size() > max_bytes) {
        text.erase(0, text.size() - max_bytes);
        text.erase(0, text.find('\n') + 1);
    }
    return text;
}

child_process& redis_server::process()
{
    if (!process_) throw std::runtime_error{"the server was never started"};
    return *process_;
}

std::vector<std::string> redis_server::arguments() const
{
    std::vector<std::string> all{"--port", std::to_string(port_), "--bind", host(), "--dir", folder_.path().string(), "--daemonize", "no"};
    if (options_.sentinel) {
        auto const file = folder_.path() / "sentinel.conf";  // a Sentinel writes its state there
        std::ofstream{file, std::ios::app};
        all.insert(all.begin(), {file.string(), "--sentinel"});
    } else {
        all.insert(all.end(), {"--save", "", "--appendonly", options_.appendonly ? "yes" : "no", "--appendfsync", "always"});
    }
    if (!options_.address.empty()) all.insert(all.end(), {"--protected-mode", "no"});  // it refuses everybody who is not on loopback
    if (!options_.requirepass.empty()) all.insert(all.end(), {"--requirepass", options_.requirepass});
    if (tls_port_ != 0) all.insert(all.end(), {"--tls-port", std::to_string(tls_port_)});
    all.insert(all.end(), options_.tls.begin(), options_.tls.end());
    all.insert(all.end(), options_.arguments.begin(), options_.arguments.end());
    return all;
}

redis_server::outcome redis_server::launch()
{
    auto arguments = this->arguments();
    auto const log_size = std::filesystem::exists(log_file()) ? std::filesystem::file_size(log_file()) : 0;
    auto program = program_;
    if (!options_.under.empty()) {
        arguments.insert(arguments.begin(), program_.string());
        arguments.insert(arguments.begin(), options_.under.begin() + 1, options_.under.end());
        program = options_.under.front();
    }
    process_.emplace(program, arguments, log_file());
    auto const deadline = std::chrono::steady_clock::now() + options_.start_timeout;
    while (std::chrono::steady_clock::now() < deadline) {
        if (answers()) return outcome::answers;
        if (!process_->running()) {
            std::ifstream file{log_file()};
            file.seekg(static_cast<std::streamoff>(log_size));
            std::string const news{std::istreambuf_iterator<char>{file}, {}};
            if (news.find("Address already in use") != std::string::npos) return outcome::port_taken;
            fail("it ended at once");
        }
        ::poll(nullptr, 0, static_cast<int>(pause_between_pings.count()));
    }
    process_->kill();
    fail("it did not answer within " + std::to_string(options_.start_timeout.count()) + " ms");
}

// Somebody else's server may have won the race for the port and answer in our server's place, so it is asked who it is.
bool redis_server::answers() const
{
    try {
        if (ask({"PING"}, ping_timeout).text != "PONG") return false;
        auto const who = ask({"INFO", "server"}, ping_timeout).text;
        if (who.find("unknown command") != std::string::npos) return true;  // renamed by a test
        return who.find("process_id:" + std::to_string(pid()) + "\r") != std::string::npos;
    } catch (std::exception const&) {
        return false;
    }
}

void redis_server::fail(std::string const& what) const
{
    throw std::runtime_error{program_.string() + " could not be started: " + what + "\n" + log_tail()};
}

}  // namespace redlock::testing
