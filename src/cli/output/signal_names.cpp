#include "cli/output/signal_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <csignal>

namespace redlock::cli {

namespace {

struct named_signal {
    std::string_view name;
    int number;
};

constexpr std::array named{named_signal{"HUP", SIGHUP},       named_signal{"INT", SIGINT},   named_signal{"QUIT", SIGQUIT},
                           named_signal{"ILL", SIGILL},       named_signal{"TRAP", SIGTRAP}, named_signal{"ABRT", SIGABRT},
                           named_signal{"BUS", SIGBUS},       named_signal{"FPE", SIGFPE},   named_signal{"KILL", SIGKILL},
                           named_signal{"USR1", SIGUSR1},     named_signal{"SEGV", SIGSEGV}, named_signal{"USR2", SIGUSR2},
                           named_signal{"PIPE", SIGPIPE},     named_signal{"ALRM", SIGALRM}, named_signal{"TERM", SIGTERM},
                           named_signal{"CHLD", SIGCHLD},     named_signal{"CONT", SIGCONT}, named_signal{"STOP", SIGSTOP},
                           named_signal{"TSTP", SIGTSTP},     named_signal{"TTIN", SIGTTIN}, named_signal{"TTOU", SIGTTOU},
                           named_signal{"URG", SIGURG},       named_signal{"XCPU", SIGXCPU}, named_signal{"XFSZ", SIGXFSZ},
                           named_signal{"VTALRM", SIGVTALRM}, named_signal{"PROF", SIGPROF}, named_signal{"WINCH", SIGWINCH},
                           named_signal{"IO", SIGIO},         named_signal{"PWR", SIGPWR},   named_signal{"SYS", SIGSYS}};

std::optional<int> parse_number(std::string_view digits)
{
    int value{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc{} || stop != end || digits.empty() || digits.front() == '-') return std::nullopt;
    return value;
}

bool is_real_time(int number) { return number >= SIGRTMIN && number <= SIGRTMAX; }

std::optional<int> real_time_signal(std::string_view name)
{
    bool const from_first = name.starts_with("RTMIN");
    if (!from_first && !name.starts_with("RTMAX")) return std::nullopt;
    auto const rest = name.substr(5);
    if (rest.empty()) return from_first ? SIGRTMIN : SIGRTMAX;
    if (rest.front() != (from_first ? '+' : '-')) return std::nullopt;
    auto const distance = parse_number(rest.substr(1));
    if (!distance || *distance > SIGRTMAX - SIGRTMIN) return std::nullopt;
    return from_first ? SIGRTMIN + *distance : SIGRTMAX - *distance;
}

}  // namespace

std::optional<int> signal_of(std::string_view text)
{
    if (auto const number = parse_number(text)) {
        bool const known = std::any_of(named.begin(), named.end(), [&](named_signal const& s) { return s.number == *number; });
        return known || is_real_time(*number) ? number : std::nullopt;
    }
    std::string name{text};
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (name.starts_with("SIG")) name.erase(0, 3);
    for (named_signal const& s : named)
        if (s.name == name) return s.number;
    return real_time_signal(name);
}

std::string name_of_signal(int number)
{
    for (named_signal const& s : named)
        if (s.number == number) return "SIG" + std::string{s.name};
    if (!is_real_time(number)) return "signal " + std::to_string(number);
    return number == SIGRTMIN ? "SIGRTMIN" : "SIGRTMIN+" + std::to_string(number - SIGRTMIN);
}

}  // namespace redlock::cli
