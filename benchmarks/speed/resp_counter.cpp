#include "resp_counter.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <system_error>

namespace bench {

void resp_counter::take(std::string_view piece)
{
    while (!piece.empty()) {
        if (text_left_ > 0) {
            auto const size = std::min(text_left_, piece.size());
            piece.remove_prefix(size);
            text_left_ -= size;
            if (text_left_ == 0) end_element();
            continue;
        }
        auto const end = piece.find('\n');
        line_.append(piece.substr(0, end));
        if (end == std::string_view::npos) return;
        piece.remove_prefix(end + 1);
        on_line();
        line_.clear();
    }
}

void resp_counter::on_line()
{
    if (line_.size() < 2 || line_.back() != '\r') throw std::runtime_error{"this is no RESP: " + line_};
    char const type = line_.front();
    if (missing_elements_.empty()) in_push_ = type == '>';
    if (std::string_view{"+-:,(#_"}.find(type) != std::string_view::npos) return end_element();
    long long size = 0;
    auto const [stop, error] = std::from_chars(line_.data() + 1, line_.data() + line_.size() - 1, size);
    if (error != std::errc{} || *stop != '\r') throw std::runtime_error{"this is no RESP: " + line_};
    if (std::string_view{"$!="}.find(type) != std::string_view::npos) {
        if (size < 0) return end_element();
        text_left_ = static_cast<std::size_t>(size) + 2;
    } else if (std::string_view{"*~>%"}.find(type) != std::string_view::npos) {
        if (size <= 0) return end_element();
        missing_elements_.push_back(static_cast<std::size_t>(type == '%' ? 2 * size : size));
    } else {
        throw std::runtime_error{"this is no RESP: " + line_};
    }
}

void resp_counter::end_element()
{
    while (!missing_elements_.empty() && --missing_elements_.back() == 0) missing_elements_.pop_back();
    if (missing_elements_.empty() && !in_push_) ++messages_;
}

}  // namespace bench
