// Chromium without a window, driven as a person would: pages, keys, the pointer, and what is on the page then.
#ifndef REDLOCK_TESTS_CLI_WEB_BROWSER_HPP
#define REDLOCK_TESTS_CLI_WEB_BROWSER_HPP

#include "support/child_process.hpp"
#include "support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::testing {

// None: it is not installed.
std::optional<std::filesystem::path> chromium();

inline constexpr std::string_view no_chromium = "there is no chromium (on Debian: tests/cli/setup.sh)";

// It speaks the DevTools protocol with its browser: JSON with a zero byte behind it, over descriptors 3 and 4 of the browser.
class web_browser {
public:
    web_browser();
    web_browser(web_browser const&) = delete;
    web_browser& operator=(web_browser const&) = delete;
    ~web_browser();

    // The root of this port, and waits until the page says that it is drawn.
    void open(std::uint16_t port);

    void size(int width, int height = 1'000);
    void dark(bool is);

    // What an expression is, or what its promise becomes. One that throws fails the test.
    nlohmann::json value(std::string const& expression);
    std::string text(std::string const& expression) { return value(expression).get<std::string>(); }
    bool is(std::string const& expression) { return value("Boolean(" + expression + ')').get<bool>(); }
    // Waits until it is so, as eventually() does.
    bool becomes(std::string const& expression);
    // Until the page has been drawn anew, from an answer that was asked for later than this call.
    void see_redraw();

    // As they are called in KeyboardEvent.key: "Tab", "ArrowDown".
    void press(std::string const& key);
    void type(std::string const& text);
    void point_at(std::string const& element);  // its middle
    void point_away();

    // What is drawn, without the script.
    std::string page()
    {
        return text("document.title + document.querySelector('header').outerHTML + document.querySelector('main').outerHTML");
    }
    // What the browser complains of: exceptions, what the policy of the page forbids. Empty: nothing.
    std::string complaints();

private:
    nlohmann::json call(std::string const& method, nlohmann::json params = nlohmann::json::object());
    nlohmann::json next_message();
    void note(nlohmann::json const& event);
    void move_pointer(double x, double y);

    temporary_folder folder_{"redlock-browser-"};
    std::array<int, 2> ends_;  // ours, and the browser's
    child_process process_;
    std::string received_;
    std::string session_;
    int calls_{0};
    std::string complaints_;
};

}  // namespace redlock::testing

#endif
