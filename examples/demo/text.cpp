#include "text.hpp"

namespace demo {

std::string grouped(std::int64_t number)
{
    std::string digits = std::to_string(number);
    std::size_t const first = number < 0 ? 1 : 0;
    for (auto at = digits.size(); at > first + 3;) digits.insert(at -= 3, 1, ',');
    return digits;
}

std::string milliseconds(std::chrono::nanoseconds length)
{
    return grouped(std::chrono::round<std::chrono::milliseconds>(length).count()) + " ms";
}

std::string tenths_of_ms(std::chrono::nanoseconds length)
{
    auto const tenths = std::chrono::abs(length) / std::chrono::microseconds{100};
    std::string text{length < length.zero() ? "-" : ""};
    return text.append(grouped(tenths / 10)).append(1, '.').append(std::to_string(tenths % 10)).append(" ms");
}

std::string seconds(std::chrono::nanoseconds length)
{
    auto const ms = std::chrono::floor<std::chrono::milliseconds>(length).count();
    std::string const fraction = std::to_string(1000 + ms % 1000);
    return std::to_string(ms / 1000) + "." + fraction.substr(1) + " s";
}

std::string left(std::string_view text, std::size_t width)
{
    std::string result{text.substr(0, width)};
    result.resize(width, ' ');
    return result;
}

std::string right(std::string_view text, std::size_t width)
{
    if (text.size() >= width) return std::string{text.substr(0, width)};
    return std::string(width - text.size(), ' ') + std::string{text};
}

}  // namespace demo
