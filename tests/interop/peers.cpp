#include "peers.hpp"

#include "support/skipped.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace redlock::testing {

namespace {

// Debian's module belongs to Debian's interpreter, which need not be the first in PATH.
constexpr char const* python = "/usr/bin/python3";

bool has_redis_py()
{
    static bool const has = std::system((std::string{python} + " -c 'import redis.lock' 2>/dev/null").c_str()) == 0;
    return has;
}

}  // namespace

bool is_here(peer const& p)
{
    if (p.name == redis_py.name) {
        if (has_redis_py()) return true;
        skipped(std::string{python} + " has no module redis, so redis-py is not tried (on Debian: apt-get install python3-redis)");
        return false;
    }
    auto const missing = missing_for_node_redlock();
    BOOST_REQUIRE_MESSAGE(missing.empty(), missing);
    return true;
}

std::unique_ptr<peer_process> start_process(peer const& of, asio::any_io_executor executor, std::vector<std::uint16_t> const& ports,
                                            std::filesystem::path const& log)
{
    auto const script = std::filesystem::path{REDLOCK_INTEROP_FOLDER} / of.script;
    bool const in_python = script.extension() == ".py";
    std::vector<std::string> arguments{script.string()};
    if (!in_python) arguments.push_back(REDLOCK_NPM_FOLDER);
    for (auto const port : ports) arguments.push_back(std::to_string(port));
    auto const program = in_python ? std::filesystem::path{python} : find_program("node");
    return std::make_unique<peer_process>(std::move(executor), program, arguments, log);
}

asio::awaitable<steady::time_point> meanwhile::end()
{
    auto waiting = eventually([this] { return done(); });
    bool const ended = co_await std::move(waiting);
    if (failure) std::rethrow_exception(failure);
    BOOST_REQUIRE(ended);
    co_return at;
}

two_libraries::two_libraries(peer const& other) : cluster{other.servers, settings_of(other)}, other_{other} {}

config two_libraries::settings_of(peer const& other)
{
    config settings = quick_config();
    settings.key_format = other.key_format;
    return settings;
}

std::unique_ptr<redlock::client> two_libraries::another_client() { return cluster::another_client(settings_of(other_)); }

asio::awaitable<std::unique_ptr<peer_process>> two_libraries::start_peer()
{
    std::vector<std::uint16_t> ports;
    for (auto const& server : servers) ports.push_back(server.port());
    auto started = start_process(other_, co_await asio::this_coro::executor, ports, log());
    auto greeting = heard(started->hear(), "ready");
    co_await std::move(greeting);
    co_return started;
}

asio::awaitable<steady::time_point> two_libraries::expect(peer_process& of, std::string line, std::string word)
{
    auto asking = heard(of.ask(std::move(line)), std::move(word));
    co_return co_await std::move(asking);
}

asio::awaitable<std::shared_ptr<meanwhile>> two_libraries::begin(peer_process& of, std::string line, std::string word)
{
    auto beginning = begin(expect(of, std::move(line), std::move(word)));
    co_return co_await std::move(beginning);
}

asio::awaitable<std::shared_ptr<meanwhile>> two_libraries::begin(asio::awaitable<steady::time_point> what)
{
    auto begun = std::make_shared<meanwhile>();
    auto const note = [begun](std::exception_ptr failure, steady::time_point at) {
        begun->failure = failure;
        begun->at = at;
    };
    asio::co_spawn(co_await asio::this_coro::executor, std::move(what), note);
    co_return begun;
}

std::string two_libraries::key_of(std::string const& name) const
{
    return other_.key_format == "raw" ? name : std::string{other_.key_format}.replace(other_.key_format.find("{0}"), 3, name);
}

asio::awaitable<steady::time_point> two_libraries::heard(asio::awaitable<peer_process::answer> answer, std::string word)
{
    peer_process::answer said;
    try {
        said = co_await std::move(answer);
    } catch (boost::system::system_error const& error) {
        said.word = error.what();  // it has ended, or says nothing
    }
    std::ifstream file{log()};
    std::string const errors{std::istreambuf_iterator<char>{file}, {}};
    BOOST_REQUIRE_MESSAGE(said.word == word, other_.name << " said '" << said.word << "' instead of '" << word << "'\n" << errors);
    co_return said.at;
}

}  // namespace redlock::testing
