#include "played_server.hpp"

#include "protocol/admission_scripts.hpp"
#include "protocol/rights.hpp"
#include "protocol/scripts.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>

namespace redlock::testing {

using asio::ip::tcp;

namespace {

// Takes one command off the front, if all of it is there.
std::optional<played_server::words> take_command(std::string& from)
{
    std::string_view rest{from};
    auto const number_behind = [&rest](char type) -> std::optional<std::size_t> {
        auto const end = rest.find("\r\n");
        if (end == rest.npos || rest.front() != type) return std::nullopt;
        std::size_t number{0};
        std::from_chars(rest.data() + 1, rest.data() + end, number);
        rest.remove_prefix(end + 2);
        return number;
    };
    auto const count = number_behind('*');
    if (!count) return std::nullopt;
    played_server::words command;
    for (std::size_t i = 0; i < *count; ++i) {
        auto const size = number_behind('$');
        if (!size || rest.size() < *size + 2) return std::nullopt;
        command.emplace_back(rest.substr(0, *size));
        rest.remove_prefix(*size + 2);
    }
    from.erase(0, from.size() - rest.size());
    return command;
}

}  // namespace

struct played_server::state : std::enable_shared_from_this<state> {
    struct peer {
        explicit peer(tcp::socket&& s) : socket{std::move(s)} {}

        tcp::socket socket;
        std::array<char, 4096> buffer{};
        std::string heard;
    };

    state(asio::io_context& io, player p) : acceptor{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}, plays{std::move(p)} {}

    void accept()
    {
        acceptor.async_accept([self = shared_from_this()](boost::system::error_code ec, tcp::socket socket) {
            if (ec) return;
            ++self->accepted;
            self->peers.push_back(std::make_shared<peer>(std::move(socket)));
            self->read(self->peers.back());
            self->accept();
        });
    }

    void read(std::shared_ptr<peer> const& from)
    {
        from->socket.async_read_some(asio::buffer(from->buffer),
                                     [self = shared_from_this(), from](boost::system::error_code ec, std::size_t n) {
                                         if (ec) return void(std::erase(self->peers, from));
                                         from->heard.append(from->buffer.data(), n);
                                         std::string answers;
                                         while (auto const command = take_command(from->heard)) {
                                             ++self->commands[command->front()];
                                             answers += self->plays(*command);
                                         }
                                         if (!send(*from, answers)) return void(std::erase(self->peers, from));
                                         self->read(from);
                                     });
    }

    static bool send(peer& to, std::string_view bytes)
    {
        boost::system::error_code gone;
        if (to.socket.is_open()) asio::write(to.socket, asio::buffer(bytes), gone);
        return to.socket.is_open() && !gone;
    }

    void vanish()
    {
        boost::system::error_code ignored;
        acceptor.close(ignored);
        drop_connections();
    }

    void drop_connections()
    {
        boost::system::error_code ignored;
        for (auto const& p : peers) p->socket.close(ignored);
    }

    tcp::acceptor acceptor;
    player plays;
    std::vector<std::shared_ptr<peer>> peers;
    std::size_t accepted{0};
    std::map<std::string, std::size_t, std::less<>> commands;
};

played_server::played_server(asio::io_context& io, player plays) : state_{std::make_shared<state>(io, std::move(plays))}
{
    state_->accept();
}

played_server::~played_server() { state_->vanish(); }

std::uint16_t played_server::port() const { return state_->acceptor.local_endpoint().port(); }

std::size_t played_server::accepted() const { return state_->accepted; }

std::size_t played_server::heard(std::string_view word) const
{
    auto const found = state_->commands.find(word);
    return found == state_->commands.end() ? 0 : found->second;
}

void played_server::push(std::string_view bytes)
{
    for (auto const& p : state_->peers) state::send(*p, bytes);
}

void played_server::drop_connections() { state_->drop_connections(); }

void played_server::vanish() { state_->vanish(); }

std::string text(std::string_view value) { return '$' + std::to_string(value.size()) + "\r\n" + std::string{value} + "\r\n"; }

std::string list(std::vector<std::string> const& elements)
{
    std::string all = '*' + std::to_string(elements.size()) + "\r\n";
    for (auto const& e : elements) all += e;
    return all;
}

std::string map(std::vector<std::pair<std::string, std::string>> const& fields)
{
    std::string all = '%' + std::to_string(fields.size()) + "\r\n";
    for (auto const& [key, value] : fields) all += text(key) + text(value);
    return all;
}

std::string played_redis::answer(played_server::words const& command) const
{
    auto const& word = command.front();
    if (word == "HELLO") return map({{"server", "redis"}, {"version", "7.0.15"}, {"proto", "3"}, {"mode", mode}, {"role", "master"}});
    if (word == "INFO")
        return text("# Server\r\nredis_version:7.0.15\r\nrun_id:" + run_id + "\r\nrole:master\r\nconnected_slaves:" +
                    std::to_string(replicas) + "\r\nmaxmemory:0\r\nmaxmemory_policy:noeviction\r\n");
    if (word == "SCRIPT") return text(detail::make_script(command.at(2)).sha1);
    if (word == "WAIT") return ':' + std::to_string(replicas) + "\r\n";
    if (word == "TIME") return list({text("1700000000"), text("0")});
    if (word == "EVALSHA" && command.at(1) == detail::inspect_script().sha1) {
        if (!error_of_inspection.empty()) return '-' + error_of_inspection + "\r\n";
        std::vector<std::string> facts(12, text(""));
        facts[0] = text(std::string(40 - run_id.size() % 40, '0') + run_id);
        facts[1] = text("master");
        facts[4] = text(record);
        return list(facts);
    }
    if (word == "EVALSHA" && !error_of_scripts.empty()) return '-' + error_of_scripts + "\r\n";
    if (word == "EVALSHA") return text("");
    return "+OK\r\n";
}

}  // namespace redlock::testing
