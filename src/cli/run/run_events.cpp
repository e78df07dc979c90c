#include "cli/run/run_events.hpp"

#include "cli/locks/lock_view_text.hpp"
#include "cli/output/signal_names.hpp"
#include "cli/output/text.hpp"
#include "observers/rfc3339.hpp"

#include <redlock/json_log.hpp>

#include <boost/asio/post.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <utility>
#include <variant>

#include <sys/wait.h>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;
using nlohmann::ordered_json;

constexpr auto reader_patience = 1s;

ordered_json begin_event(char const* name)
{
    auto const now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
    return {{"at", detail::rfc3339(now)}, {"event", name}};
}

// Writes all events but those of nodes whose connections end because `redlock run` does.
class client_log final : public observer {
public:
    client_log(std::shared_ptr<event_stream> to, std::shared_ptr<bool> ending)
        : log_{[stream = std::move(to)](std::string_view line) { stream->write(line); }}, ending_{std::move(ending)}
    {
    }

    void on(event::any const& what) override
    {
        if (!*ending_ || !std::holds_alternative<event::node_down>(what)) log_.on(what);
    }

private:
    json_log log_;
    std::shared_ptr<bool> ending_;
};

}  // namespace

char const* to_string(run_outcome outcome) noexcept
{
    switch (outcome) {
    case run_outcome::completed: return "completed";
    case run_outcome::not_started: return "not_started";
    case run_outcome::contended: return "contended";
    case run_outcome::permits_differ: return "permits_differ";
    case run_outcome::no_majority: return "no_majority";
    case run_outcome::interrupted: return "interrupted";
    case run_outcome::lost: return "lost";
    }
    return "";
}

run_events::run_events(asio::io_context& io, std::optional<int> descriptor, std::string lock,
                       std::function<void(std::string const&)> failed)
    : io_{io}, lock_{std::move(lock)}
{
    if (!descriptor) return;
    auto const dropped = [](std::uint64_t lines) {
        auto line = begin_event("dropped");
        line["events"] = lines;
        return dump(line, -1);
    };
    stream_ = std::make_shared<event_stream>(io.get_executor(), *descriptor, dropped, std::move(failed));
}

std::shared_ptr<observer> run_events::client_observer() const
{
    if (!stream_) return nullptr;
    return std::make_shared<client_log>(stream_, ending_);
}

// The client's events wait in a queue of the executor. So do these, to keep their order.
template <class Object>
void run_events::write_later(Object const& event)
{
    asio::post(io_, [to = stream_, line = dump(event, -1)] { to->write(line); });
}

void run_events::waiting(lock_view const& lock, std::size_t voting, std::chrono::nanoseconds waited)
{
    if (!stream_) return;
    auto line = begin_event("waiting");
    line["lock"] = lock_;
    line["waited_us"] = std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
    line["state"] = to_string(lock.state);
    line["holder"] = lock.state == lock_state::held ? holder_to_json(lock.nodes[*lock.holder]) : ordered_json{};
    line["nodes"] = lock.nodes.size();
    line["voting"] = voting;
    write_later(line);
}

void run_events::waiting(semaphore_view const& permits, std::size_t voting, std::chrono::nanoseconds waited)
{
    if (!stream_) return;
    auto line = begin_event("waiting");
    line["lock"] = lock_;
    line["waited_us"] = std::chrono::duration_cast<std::chrono::microseconds>(waited).count();
    line["permits"] = permits.permits ? ordered_json(*permits.permits) : ordered_json{};
    line["holders"] = ordered_json::array();
    for (slot_view const& s : permits.slots) {
        if (s.lock.state != lock_state::held) continue;
        ordered_json one{{"slot", s.number}};
        one.update(holder_to_json(s.lock.nodes[*s.lock.holder]));
        line["holders"].push_back(std::move(one));
    }
    line["nodes"] = permits.nodes.size();
    line["voting"] = voting;
    write_later(line);
}

void run_events::command_started(std::uint64_t token, pid_t pid)
{
    if (!stream_) return;
    auto line = begin_event("command_started");
    line["lock"] = lock_;
    line["token"] = token;
    line["pid"] = pid;
    write_later(line);
}

void run_events::command_ended(std::uint64_t token, int status)
{
    if (!stream_) return;
    auto line = begin_event("command_ended");
    line["lock"] = lock_;
    line["token"] = token;
    line["code"] = WIFEXITED(status) ? ordered_json(WEXITSTATUS(status)) : ordered_json{};
    line["signal"] = WIFSIGNALED(status) ? ordered_json(name_of_signal(WTERMSIG(status))) : ordered_json{};
    write_later(line);
}

void run_events::end_soon()
{
    *ending_ = true;
    if (stream_) stream_->stop_waiting();
}

void run_events::ended(int code, run_outcome outcome)
{
    if (!stream_) return;
    auto line = begin_event("ended");
    line["lock"] = lock_;
    line["code"] = code;
    line["outcome"] = to_string(outcome);
    stream_->write(dump(line, -1));
    stream_->drain(reader_patience);
}

}  // namespace redlock::cli
