// What passes between a program and the installed library: exceptions, error categories, classes with virtual functions, handlers, JSON.
#include <redlock/json.hpp>
#include <redlock/json_log.hpp>
#include <redlock/prometheus.hpp>
#include <redlock/redlock.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/version.hpp>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>

namespace {

void expect(bool holds, char const* what)
{
    if (holds) return;
    std::cerr << "surface: not so: " << what << '\n';
    std::exit(1);
}

template <class Exception, class F>
bool throws(F f)
{
    try {
        f();
    } catch (Exception const&) {
        return true;
    }
    return false;
}

struct counting_observer final : redlock::observer {
    void on_attempt_failed(redlock::event::attempt_failed const&) override { ++failed; }
    int failed{0};
};

}  // namespace

int main()
{
    expect(redlock::version() == std::string_view{REDLOCK_VERSION_STRING}, "header and library are of one version");
    expect(redlock::boost_version() == BOOST_VERSION, "header and library are of one Boost");

    expect(throws<redlock::config_error>([] { redlock::node_address::from_url("nonsense"); }), "a URL is refused");
    expect(throws<std::invalid_argument>([] { redlock::config::from_urls({}).validate(); }), "a config_error is an invalid_argument");

    redlock::error_code const lost = redlock::errc::lease_lost;
    expect(lost.category() == redlock::error_category() && lost == redlock::condition::lost, "one category each");

    redlock::settings const settings = redlock::parse_settings(R"({"nodes": ["redis://127.0.0.1:1"]})");
    auto const counting = std::make_shared<counting_observer>();
    auto const metrics = std::make_shared<redlock::prometheus>();
    std::ostringstream lines;
    std::shared_ptr<redlock::observer> const log = std::make_shared<redlock::json_log>(lines);
    expect(std::dynamic_pointer_cast<redlock::json_log>(log) != nullptr, "types are known on both sides");

    boost::asio::io_context io;
    auto const all = std::make_shared<redlock::observers>(std::vector<std::shared_ptr<redlock::observer>>{counting, metrics, log},
                                                          io.get_executor());
    redlock::client nodes{io.get_executor(), settings.client, all};
    expect(throws<std::invalid_argument>([&] { redlock::lock{nodes, ""}; }), "a name is refused");

    redlock::lock const lock{nodes, "surface"};
    redlock::attempt_report report;
    redlock::error_code answer;
    std::thread::id where;
    nodes.run([](redlock::error_code) {});
    lock.try_acquire(report, [&](redlock::error_code ec, redlock::lease lease) {
        answer = ec;
        where = std::this_thread::get_id();
        expect(!lease && !lease.valid(), "nothing is held");
        nodes.cancel();
    });
    io.run();

    expect(answer == redlock::errc::no_majority && answer == redlock::condition::not_acquired, "a dead node is no majority");
    expect(report.nodes.size() == 1 && report.nodes[0].error == redlock::errc::node_unreachable, "the report says why");
    expect(where == std::this_thread::get_id(), "handlers run in io.run()");
    expect(counting->failed == 1, "a user's observer is told");
    expect(metrics->text().find("redlock") != std::string::npos && lines.str().find("surface") != std::string::npos, "so are ours");
    expect(redlock::to_json(nodes.status())["nodes"].size() == 1, "the status as JSON");
    std::cout << "redlock " << redlock::version() << " with Boost " << redlock::boost_version() << '\n';
}
