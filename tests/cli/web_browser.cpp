#include "web_browser.hpp"

#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace redlock::testing {

namespace {

using namespace std::chrono_literals;
using nlohmann::json;

constexpr int browser_patience_ms = 60'000;  // it starts slowly on a busy machine

std::array<int, 2> both_ends()
{
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
        throw std::system_error{errno, std::generic_category(), "socketpair"};
    return ends;
}

arguments browser_arguments(std::filesystem::path const& profile)
{
    arguments all{"-c",
                  R"(exec "$0" "$@" 3<&0 4>&1 </dev/null >&2)",
                  chromium().value().string(),
                  "--headless",
                  "--disable-gpu",
                  "--disable-dev-shm-usage",
                  "--no-first-run",
                  "--hide-scrollbars",
                  "--user-data-dir=" + profile.string(),
                  "--remote-debugging-pipe"};
    if (::geteuid() == 0) all.emplace_back("--no-sandbox");  // which root cannot have
    return all;
}

// Where a key is on the keyboard; the browser acts upon that, too.
int code_of(std::string const& key)
{
    static std::map<std::string, int> const codes{{"Backspace", 8},  {"Tab", 9},      {"Enter", 13},      {"End", 35},      {"Home", 36},
                                                  {"ArrowLeft", 37}, {"ArrowUp", 38}, {"ArrowRight", 39}, {"ArrowDown", 40}};
    return codes.at(key);
}

}  // namespace

std::optional<std::filesystem::path> chromium()
{
    for (char const* const name : {"chromium", "chromium-browser", "google-chrome"}) try {
            return find_program(name);
        } catch (std::runtime_error const&) {
        }
    return std::nullopt;
}

web_browser::web_browser()
    : ends_{both_ends()}, process_{"/bin/sh", browser_arguments(folder_.path() / "profile"), folder_.path() / "log", ends_[1]}
{
    ::close(ends_[1]);
    auto const target = call("Target.createTarget", {{"url", "about:blank"}}).at("targetId");
    session_ = call("Target.attachToTarget", {{"targetId", target}, {"flatten", true}}).at("sessionId");
    for (char const* const domain : {"Runtime", "Page", "Log"}) call(domain + std::string{".enable"});
    size(1'400);
}

web_browser::~web_browser()
{
    try {
        session_.clear();
        call("Browser.close");
        process_.wait(10s);
    } catch (std::exception const&) {  // then it is killed
    }
    ::close(ends_[0]);
}

json web_browser::next_message()
{
    for (;;) {
        auto const end = received_.find('\0');
        if (end != std::string::npos) {
            auto message = json::parse(received_.substr(0, end));
            received_.erase(0, end + 1);
            return message;
        }
        pollfd event{ends_[0], POLLIN, 0};
        char part[65'536];
        auto const n = ::poll(&event, 1, browser_patience_ms) > 0 ? ::recv(ends_[0], part, sizeof part, 0) : -1;
        if (n <= 0) throw std::runtime_error{"the browser does not answer: " + read_file(folder_.path() / "log")};
        received_.append(part, static_cast<std::size_t>(n));
    }
}

void web_browser::note(json const& event)
{
    auto const method = event.value("method", "");
    if (method == "Runtime.exceptionThrown") complaints_ += event.at("params").at("exceptionDetails").dump() + '\n';
    if (method == "Log.entryAdded" && event.at("params").at("entry").at("level") == "error")
        complaints_ += event.at("params").at("entry").at("text").get<std::string>() + '\n';
}

json web_browser::call(std::string const& method, json params)
{
    json request{{"id", ++calls_}, {"method", method}, {"params", std::move(params)}};
    if (!session_.empty()) request["sessionId"] = session_;
    auto const text = request.dump();
    for (std::size_t sent = 0; sent <= text.size();) {  // with the zero behind it
        auto const n = ::send(ends_[0], text.c_str() + sent, text.size() + 1 - sent, MSG_NOSIGNAL);
        if (n <= 0) throw std::runtime_error{"the browser has ended: " + read_file(folder_.path() / "log")};
        sent += static_cast<std::size_t>(n);
    }
    for (;;) {
        auto message = next_message();
        if (!message.contains("id")) note(message);
        else if (message.at("id") == calls_) {
            if (message.contains("error")) throw std::runtime_error{method + ": " + message.at("error").dump()};
            return std::move(message.at("result"));
        }
    }
}

void web_browser::open(std::uint16_t port)
{
    call("Page.navigate", {{"url", "http://127.0.0.1:" + std::to_string(port) + '/'}});
    BOOST_TEST_REQUIRE(becomes("document.body && document.body.dataset.drawn === 'true'"), complaints_);
}

void web_browser::size(int width, int height)
{
    call("Emulation.setDeviceMetricsOverride", {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
}

void web_browser::dark(bool is)
{
    json const scheme{{"name", "prefers-color-scheme"}, {"value", is ? "dark" : "light"}};
    call("Emulation.setEmulatedMedia", {{"features", json::array({scheme})}});
}

json web_browser::value(std::string const& expression)
{
    auto const answer = call("Runtime.evaluate", {{"expression", expression}, {"awaitPromise", true}, {"returnByValue", true}});
    if (answer.contains("exceptionDetails")) {
        BOOST_ERROR(expression.substr(0, 300) << ": " << answer.at("exceptionDetails").dump());
        return {};
    }
    return answer.at("result").value("value", json{});
}

bool web_browser::becomes(std::string const& expression)
{
    return eventually([&] { return is(expression); });
}

void web_browser::see_redraw()
{
    for (int i = 0; i < 2; ++i) {  // the first answer may be on its way
        auto const before = value("last.time").dump();
        BOOST_TEST(becomes("last.time > " + before));
    }
}

void web_browser::press(std::string const& key)
{
    for (char const* const type : {"rawKeyDown", "keyUp"})
        call("Input.dispatchKeyEvent", {{"type", type}, {"key", key}, {"code", key}, {"windowsVirtualKeyCode", code_of(key)}});
}

void web_browser::type(std::string const& text) { call("Input.insertText", {{"text", text}}); }

void web_browser::move_pointer(double x, double y) { call("Input.dispatchMouseEvent", {{"type", "mouseMoved"}, {"x", x}, {"y", y}}); }

void web_browser::point_at(std::string const& element)
{
    auto const at = value("(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return [r.left + r.width / 2, "
                          "r.top + r.height / 2]; })(" +
                          element + ')');
    move_pointer(at.at(0), at.at(1));
}

void web_browser::point_away() { move_pointer(1, 1); }

std::string web_browser::complaints()
{
    value("0");  // what it had to say before that has come
    return complaints_;
}

}  // namespace redlock::testing
