#include "node/redis_codec.hpp"

#include "node/scripts.hpp"

#include <algorithm>
#include <cassert>
#include <string>

namespace redlock::detail {

namespace resp3 = boost::redis::resp3;

boost::redis::request::config one_connection_only() noexcept
{
    // Every flag is set here because their defaults differ between releases of Boost.
    boost::redis::request::config c{};
    c.cancel_on_connection_lost = true;
    c.cancel_if_not_connected = false;
    c.cancel_if_unresponded = true;
    c.hello_with_priority = false;
    return c;
}

namespace {

std::size_t run_of_extensions(std::vector<command> const& commands, std::size_t first)
{
    std::size_t const end = std::min(commands.size(), first + extensions_per_call);
    std::size_t i = first;
    while (i < end && commands[i].what == verb::extend) ++i;
    return i - first;
}

void push_extensions(boost::redis::request& request, command const* first, std::size_t count)
{
    std::vector<std::string> arguments;
    arguments.reserve(2 + 3 * count);
    arguments.push_back(extend_script().sha1);
    arguments.push_back(std::to_string(count));
    for (std::size_t i = 0; i < count; ++i) arguments.emplace_back(first[i].key);
    for (std::size_t i = 0; i < count; ++i) {
        arguments.emplace_back(first[i].value);
        arguments.push_back(std::to_string(first[i].ttl.count()));
    }
    request.push_range("EVALSHA", arguments);
}

}  // namespace

redis_request::redis_request(batch const& work) : request{one_connection_only()}
{
    auto const& commands = work.commands;
    calls.reserve(commands.size());
    for (std::size_t i = 0; i < commands.size();) {
        command const& c = commands[i];
        std::size_t count = 1;
        switch (c.what) {
        case verb::acquire: request.push("SET", c.key, c.value, "NX", "PX", std::to_string(c.ttl.count())); break;
        case verb::release: request.push("EVALSHA", release_script().sha1, "1", c.key, c.value); break;
        case verb::extend:
            count = run_of_extensions(commands, i);
            push_extensions(request, &c, count);
            break;
        }
        calls.push_back({c.what, i, count});
        i += count;
    }
}

reply_reader::reply_reader(std::vector<wire_call> const& calls, std::vector<reply>& replies)
    : calls_{calls}, replies_{replies}
{
    for (reply& r : replies_) r = reply{vote::failed, errc::unexpected_reply, {}};
}

bool reply_reader::is_noscript(reply const& r) noexcept
{
    return r.error == errc::server_error && r.detail.starts_with("NOSCRIPT");
}

void reply_reader::on_node(std::size_t index, resp3::node_view const& node)
{
    if (index >= calls_.size()) return;  // more answers than calls: Boost.Redis counts them, so this is its bug
    wire_call const& call = calls_[index];
    assert(call.first + call.count <= replies_.size());

    bool const error = node.data_type == resp3::type::simple_error || node.data_type == resp3::type::blob_error;
    if (error && node.depth == 0) return on_error(call, node.value);
    switch (call.what) {
    case verb::acquire: return on_acquire(replies_[call.first], node);
    case verb::release: return on_number(replies_[call.first], node);
    case verb::extend:
        if (array_of_ != index + 1) {
            array_of_ = index + 1;
            element_ = 0;
        }
        return on_extend(call, node);
    }
}

void reply_reader::on_error(wire_call const& call, std::string_view text)
{
    // A foreign key of another type is a lock of another library: somebody holds it.
    if (text.starts_with("WRONGTYPE")) {
        for (std::size_t i = 0; i < call.count; ++i) replies_[call.first + i] = reply{vote::refused, {}, {}};
        return;
    }
    for (std::size_t i = 0; i < call.count; ++i)
        replies_[call.first + i] = reply{vote::failed, errc::server_error, std::string{text}};
    if (is_noscript(replies_[call.first])) noscript_ = true;
}

void reply_reader::on_acquire(reply& r, resp3::node_view const& node)
{
    if (node.depth != 0) return;
    if (node.data_type == resp3::type::null) r = reply{vote::refused, {}, {}};
    if (node.data_type == resp3::type::simple_string && node.value == "OK") r = reply{vote::granted, {}, {}};
}

void reply_reader::on_number(reply& r, resp3::node_view const& node)
{
    if (node.data_type != resp3::type::number) return;
    if (node.value == "1") r = reply{vote::granted, {}, {}};
    if (node.value == "0") r = reply{vote::refused, {}, {}};
}

void reply_reader::on_extend(wire_call const& call, resp3::node_view const& node)
{
    if (node.depth != 1) return;
    if (element_ < call.count) on_number(replies_[call.first + element_], node);
    ++element_;
}

}  // namespace redlock::detail
