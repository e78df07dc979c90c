#include "register.hpp"

#include "records.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/system/system_error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace redlock::faults {

using asio::ip::tcp;

namespace {

class fenced_register {
public:
    explicit fenced_register(std::filesystem::path const& log) : log_{log} {}

    std::string answer(std::string const& line)
    {
        std::istringstream words{line};
        std::string what;
        write_record asked;
        words >> what >> asked.name >> asked.token;
        auto& last = cells_[asked.name];
        asked.reads = what == "look";
        bool const stale = asked.token < last.writer || (!asked.reads && asked.token <= last.reader);
        auto& seen = asked.reads ? last.reader : last.writer;
        if (!stale) seen = std::max(seen, asked.token);
        if (what == "read") return stale ? "stale" : value_ + std::to_string(last.value);

        if (asked.reads) asked.value = last.value;
        else words >> asked.value;
        words >> asked.worker;
        if ((what != "write" && what != "look") || !words) throw std::runtime_error{"the register does not understand: " + line};
        asked.answer = stale ? "stale" : !asked.reads && asked.value != last.value + 1 ? "conflict" : "ok";
        if (asked.accepted()) last.value = asked.value;
        write_down(asked);
        return asked.reads && asked.accepted() ? value_ + std::to_string(last.value) : asked.answer;
    }

private:
    struct cell {
        std::uint64_t writer{0};  // the largest token
        std::uint64_t reader{0};
        std::uint64_t value{0};
    };

    void write_down(write_record const& asked)
    {
        log_.write({{"t", to_number(boot_clock::now())},
                    {"name", asked.name},
                    {"token", asked.token},
                    {"value", asked.value},
                    {"worker", asked.worker},
                    {"answer", asked.answer},
                    {"reads", asked.reads}});
    }

    static constexpr char const* value_ = "value ";
    std::map<std::string, cell> cells_;
    record_file log_;
};

asio::awaitable<void> serve(tcp::socket peer, fenced_register& data)
{
    std::string heard;
    peer.set_option(tcp::no_delay{true});
    try {
        for (;;) {
            auto reading = asio::async_read_until(peer, asio::dynamic_buffer(heard), '\n', asio::use_awaitable);
            std::size_t const size = co_await std::move(reading);
            std::string const line = data.answer(heard.substr(0, size - 1)) + '\n';
            heard.erase(0, size);
            auto writing = asio::async_write(peer, asio::buffer(line), asio::use_awaitable);
            co_await std::move(writing);
        }
    } catch (boost::system::system_error const&) {
        co_return;  // the worker has closed its connection
    }
}

asio::awaitable<void> listen(tcp::acceptor& at, fenced_register& data)
{
    auto const executor = co_await asio::this_coro::executor;
    for (;;) {
        auto accepting = at.async_accept(asio::use_awaitable);
        auto peer = co_await std::move(accepting);
        asio::co_spawn(executor, serve(std::move(peer), data), [](std::exception_ptr error) {
            if (error) std::rethrow_exception(error);
        });
    }
}

register_answer to_answer(std::string const& word)
{
    if (word == "ok") return register_answer::ok;
    if (word == "stale") return register_answer::stale;
    if (word == "conflict") return register_answer::conflict;
    throw std::runtime_error{"the register said " + word};
}

}  // namespace

int run_register(std::string const& address, std::filesystem::path const& port, std::filesystem::path const& log)
{
    asio::io_context io{1};
    fenced_register data{log};
    tcp::acceptor acceptor{io, tcp::endpoint{asio::ip::make_address(address), 0}};
    asio::signal_set signals{io, SIGTERM};
    signals.async_wait([&](auto const&, int) { io.stop(); });
    asio::co_spawn(io, listen(acceptor, data), asio::detached);

    auto const draft = port.string() + ".new";
    std::ofstream{draft} << acceptor.local_endpoint().port() << '\n';
    std::filesystem::rename(draft, port);  // so that nobody reads half of it
    io.run();
    return EXIT_SUCCESS;
}

register_client::register_client(asio::any_io_executor executor, tcp::endpoint where)
    : where_{std::move(where)}, socket_{std::move(executor)}
{
}

asio::awaitable<register_client::reading> register_client::read(std::string name, std::uint64_t token)
{
    auto asking = ask_for_value("read " + name + " " + std::to_string(token));
    co_return co_await std::move(asking);
}

asio::awaitable<register_client::reading> register_client::look(std::string name, std::uint64_t token, std::string worker)
{
    auto asking = ask_for_value("look " + name + " " + std::to_string(token) + " " + worker);
    co_return co_await std::move(asking);
}

asio::awaitable<register_client::reading> register_client::ask_for_value(std::string line)
{
    auto asking = ask(std::move(line));
    std::string const said = co_await std::move(asking);
    constexpr std::string_view value = "value ";
    if (said.starts_with(value)) co_return reading{register_answer::ok, std::stoull(said.substr(value.size()))};
    co_return reading{to_answer(said), 0};
}

asio::awaitable<register_answer> register_client::write(std::string name, std::uint64_t token, std::uint64_t value, std::string worker)
{
    auto asking = ask("write " + name + " " + std::to_string(token) + " " + std::to_string(value) + " " + worker);
    co_return to_answer(co_await std::move(asking));
}

asio::awaitable<std::string> register_client::ask(std::string line)
{
    if (!std::exchange(usable_, false)) {
        socket_ = tcp::socket{socket_.get_executor()};
        heard_.clear();
        auto connecting = socket_.async_connect(where_, asio::use_awaitable);
        co_await std::move(connecting);
        socket_.set_option(tcp::no_delay{true});
    }
    line += '\n';
    auto writing = asio::async_write(socket_, asio::buffer(line), asio::use_awaitable);
    co_await std::move(writing);
    auto hearing = asio::async_read_until(socket_, asio::dynamic_buffer(heard_), '\n', asio::use_awaitable);
    std::size_t const size = co_await std::move(hearing);
    std::string answer = heard_.substr(0, size - 1);
    heard_.erase(0, size);
    usable_ = true;
    co_return answer;
}

}  // namespace redlock::faults
