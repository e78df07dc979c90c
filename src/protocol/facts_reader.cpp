#include "protocol/facts_reader.hpp"

#include "protocol/fence_keys.hpp"
#include "protocol/server_id.hpp"
#include "protocol/without_loss.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <utility>

namespace redlock::detail {

namespace {

template <class Number>
Number to_number(std::string_view text)
{
    Number n{0};
    std::from_chars(text.data(), text.data() + text.size(), n);
    return n;
}

}  // namespace

void facts_reader::on_element(std::size_t index, std::string_view value)
{
    switch (index) {
    case 0:
        facts_.id = value;
        says_its_id_ = !value.empty();
        break;
    case 1: facts_.master = value.empty() || value == "master"; break;
    case 4: record_ = value; break;
    case 5:
        has_high_water_ = !value.empty();
        facts_.high_water = to_number<quorum::token_number>(value);
        break;
    case redis_version_element: redis_version_ = value; break;
    case set_element: set_ = value; break;
    case valkey_version_element: valkey_version_ = value; break;
    case uptime_element: uptime_ = value; break;
    default: has_too_many_ = has_too_many_ || index > uptime_element;
    }
}

quorum::node_facts facts_reader::take()
{
    if (has_too_many_) return {};  // no server with our script answers that
    if (record_.size() > record_mark_at) {
        std::string_view const record{record_};
        auto const id = record.substr(0, record_id_size);
        bool const ever_admitted = id.find_first_not_of('0') != std::string_view::npos;
        if (ever_admitted && has_high_water_) facts_.admitted = id;
        if (auto const mark = record.substr(record_mark_at); mark.front() != '-') facts_.mark = mark;
        facts_.high_water = std::max(facts_.high_water, to_number<quorum::token_number>(record.substr(record_base_at, record_base_size)));
        facts_.max_ttl = std::chrono::milliseconds{to_number<std::int64_t>(record.substr(record_max_ttl_at, record_max_ttl_size))};
    }
    if (!says_its_id_) facts_.id = facts_.admitted;
    complete(facts_);
    set_.clear();
    return std::exchange(facts_, {});
}

// An id that is that of the record of the admission names a generation already.
void facts_reader::complete(quorum::node_facts& facts) const
{
    facts.without_loss = time_without_loss(uptime_, redis_version_, valkey_version_);
    facts.set = set_;
    if (!facts.id.empty() && !is_of_generation(facts.id)) facts.id = id_in_generation(quorum::binding_in(set_), facts.id);
}

}  // namespace redlock::detail
