#include "node/sentinel/sentinel_answers.hpp"

#include "node/connection/node_address.hpp"
#include "protocol/redis_replies.hpp"
#include "protocol/redis_request.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

namespace redlock::detail {

namespace {

using boost::redis::resp3::type;

// The calls of sentinel_request, in order.
enum sentinel_call : std::size_t { address, master, replicas };

constexpr std::size_t max_servers = 128;  // max_replicas, and some that have gone

template <class Number>
std::optional<Number> to_number(std::string_view digits)
{
    Number n{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, n);
    if (error != std::errc{} || stop != end || digits.empty()) return std::nullopt;
    return n;
}

}  // namespace

std::string to_string(group_member const& member) { return host_and_port(member.host, member.port); }

boost::redis::request sentinel_request(std::string const& name)
{
    boost::redis::request request{one_connection_only()};
    request.push("SENTINEL", "GET-MASTER-ADDR-BY-NAME", name);
    request.push("SENTINEL", "MASTER", name);
    request.push("SENTINEL", "REPLICAS", name);
    return request;
}

void sentinel_reader::on_error(std::string_view words)
{
    if (words.find("No such master") != std::string_view::npos) unknown_ = true;
    else if (words.find("nknown command") != std::string_view::npos) foreign_ = true;
    else if (error_.empty()) error_ = words;
}

void sentinel_reader::on_node(std::size_t index, node_view const& node)
{
    if (is_error(node)) return on_error(node.value);
    if (index == address) {
        if (node.depth == 0 && node.data_type == type::null) unknown_ = true;
        if (node.depth == 1) address_.emplace_back(node.value);
        return;
    }
    // A map, or a list of maps. In RESP2 maps are lists, too.
    std::size_t const map_depth = index == master ? 0 : 1;
    if (node.depth == map_depth) end_member();
    if (node.depth == map_depth + 1) on_field(index, node);
}

void sentinel_reader::on_field(std::size_t index, node_view const& node)
{
    if (!has_key_) {
        key_ = node.value;
        has_key_ = true;
        return;
    }
    has_key_ = false;
    if (key_ == "ip") host_ = node.value;
    if (key_ == "port") port_ = node.value;
    if (key_ == "down-after-milliseconds" && index == master)
        down_after_ = std::chrono::milliseconds{to_number<std::uint32_t>(node.value).value_or(0)};
    if (key_ == "config-epoch" && index == master) epoch_ = to_number<std::uint64_t>(node.value);
}

void sentinel_reader::end_member()
{
    if (!host_.empty()) add(std::exchange(host_, ""), std::exchange(port_, ""));
    has_key_ = false;
}

void sentinel_reader::add(std::string const& host, std::string_view port)
{
    auto const number = to_number<std::uint16_t>(port);
    if (!number || *number == 0 || !host_problem(host).empty() || servers_.size() == max_servers) {
        malformed_ = true;
        return;
    }
    group_member member{host, *number};
    if (std::find(servers_.begin(), servers_.end(), member) == servers_.end()) servers_.push_back(std::move(member));
}

sentinel_report sentinel_reader::conclude()
{
    using enum sentinel_report::outcome;
    end_member();
    sentinel_report report;
    report.problem.clear();
    if (foreign_) {
        report.is = no_sentinel;
    } else if (!error_.empty()) {
        report.problem = error_;
    } else if (unknown_) {
        report.is = no_such_master;
    } else {
        if (address_.size() == 2) add(address_[0], address_[1]);
        else malformed_ = true;
        if (malformed_ || !epoch_) {
            report.problem = "its answers about the master make no sense";
            return report;
        }
        report.is = answered;
        report.view = {*epoch_, {address_[0], *to_number<std::uint16_t>(address_[1])}, down_after_, std::move(servers_)};
    }
    return report;
}

switch_reader::news switch_reader::on_node(boost::redis::resp3::node_view const& node)
{
    if (node.depth == 0) {
        element_ = 0;
        is_message_ = false;
        return news::none;
    }
    if (node.depth != 1) return news::none;
    auto const element = element_++;
    if (element == 0) {
        is_message_ = node.value == "message";
        return node.value == "subscribe" ? news::subscribed : news::none;
    }
    bool const ours = element == 2 && is_message_ && node.value.starts_with(master_ + ' ');
    return ours ? news::switched : news::none;
}

}  // namespace redlock::detail
