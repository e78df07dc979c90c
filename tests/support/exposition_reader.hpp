// A strict reader of Prometheus' text format, version 0.0.4: what it does not like it throws, with the line.
#ifndef REDLOCK_TESTS_SUPPORT_EXPOSITION_READER_HPP
#define REDLOCK_TESTS_SUPPORT_EXPOSITION_READER_HPP

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::testing {

class exposition {
public:
    using labels = std::map<std::string, std::string>;
    using series = std::pair<std::string, labels>;  // a sample's name, as it stands there

    explicit exposition(std::string_view text)
    {
        if (!text.empty() && text.back() != '\n') throw std::runtime_error{"the last line has no end"};
        while (!text.empty()) {
            auto const end = text.find('\n');
            line_ = rest_ = text.substr(0, end);
            text.remove_prefix(end + 1);
            if (rest_.starts_with('#')) read_comment();
            else read_sample();
        }
        finish_family();
    }

    bool has(std::string const& name, labels const& l = {}) const { return values_.contains({name, l}); }
    double value(std::string const& name, labels const& l = {}) const
    {
        auto const found = values_.find({name, l});
        if (found == values_.end()) throw std::runtime_error{"there is no " + name};
        return found->second;
    }
    std::set<std::string> names() const
    {
        std::set<std::string> all;
        for (auto const& [of, value] : values_) all.insert(of.first);
        for (auto const& [name, type] : types_) {
            if (type != "histogram") all.insert(name);  // there may be no series yet
        }
        return all;
    }

private:
    void check(bool good, char const* what) const
    {
        if (!good) throw std::runtime_error{std::string{what} + ": " + std::string{line_}};
    }

    static bool letter(char c, bool colon) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':'); }

    std::string read_name(bool colon)
    {
        std::size_t n = 0;
        while (n < rest_.size() && (letter(rest_[n], colon) || (n > 0 && rest_[n] >= '0' && rest_[n] <= '9'))) ++n;
        check(n > 0, "no name");
        std::string const name{rest_.substr(0, n)};
        rest_.remove_prefix(n);
        return name;
    }

    void skip(char c)
    {
        check(rest_.starts_with(c), "another character was expected");
        rest_.remove_prefix(1);
    }

    void read_comment()
    {
        bool const help = rest_.starts_with("# HELP ");
        check(help || rest_.starts_with("# TYPE "), "neither HELP nor TYPE");
        rest_.remove_prefix(7);
        std::string const name = read_name(true);
        skip(' ');
        if (help) {
            finish_family();
            family_ = name;
            check(!rest_.empty() && helps_.insert(name).second, "a second HELP, or none");
            for (std::size_t i = 0; i < rest_.size(); ++i)
                if (rest_[i] == '\\') check(++i < rest_.size() && (rest_[i] == '\\' || rest_[i] == 'n'), "a wrong escape");
            return;
        }
        std::string const type{rest_};
        check(family_ == name, "TYPE without its HELP before it");
        check(type == "counter" || type == "gauge" || type == "histogram", "an unknown type");
        check(types_.emplace(name, type).second, "a second TYPE");
        check((type == "counter") == name.ends_with("_total"), "counters, and only they, end in _total");
    }

    labels read_labels()
    {
        labels found;
        if (!rest_.starts_with('{')) return found;
        do {
            rest_.remove_prefix(1);
            std::string const name = read_name(false);
            check(!name.starts_with("__"), "a reserved label");
            skip('=');
            skip('"');
            std::string value;
            while (!rest_.starts_with('"')) {
                check(!rest_.empty(), "a label without an end");
                if (rest_.front() == '\\') {
                    rest_.remove_prefix(1);
                    check(!rest_.empty() && std::string_view{"\\\"n"}.find(rest_.front()) != std::string_view::npos, "a wrong escape");
                    value += rest_.front() == 'n' ? '\n' : rest_.front();
                } else {
                    value += rest_.front();
                }
                rest_.remove_prefix(1);
            }
            rest_.remove_prefix(1);
            check(found.emplace(name, value).second, "a label stands there twice");
        } while (rest_.starts_with(','));
        skip('}');
        return found;
    }

    static double read_number(std::string_view text, bool& good)
    {
        if (text == "+Inf") return std::numeric_limits<double>::infinity();
        double value = 0;
        auto const [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
        good = good && ec == std::errc{} && end == text.data() + text.size();
        return value;
    }

    void read_sample()
    {
        std::string const name = read_name(true);
        labels const found = read_labels();
        skip(' ');
        bool good = true;
        double const value = read_number(rest_, good);
        check(good, "no number");
        auto const type = types_.find(family_);
        check(type != types_.end(), "a sample without its TYPE");
        if (type->second == "histogram") {
            check(name == family_ + "_bucket" || name == family_ + "_sum" || name == family_ + "_count", "a sample of another family");
            check((name == family_ + "_bucket") == found.contains("le"), "le where it does not belong, or missing");
        } else {
            check(name == family_, "a sample of another family");
        }
        if (type->second != "gauge") check(value >= 0, "less than nothing was counted");
        check(values_.emplace(series{name, found}, value).second, "a series stands there twice");
        if (name == family_ + "_bucket") {
            labels rest = found;
            rest.erase("le");
            buckets_[rest].emplace_back(read_number(found.at("le"), good), value);
            check(good, "le is no number");
        }
    }

    void finish_family()
    {
        if (!family_.empty()) check(types_.contains(family_), "HELP without TYPE");
        for (auto const& [of, all] : buckets_) {
            for (std::size_t i = 1; i < all.size(); ++i)
                check(all[i - 1].first < all[i].first && all[i - 1].second <= all[i].second, "buckets that do not grow");
            check(std::isinf(all.back().first) && all.back().second == value(family_ + "_count", of), "the last bucket does not have all");
            value(family_ + "_sum", of);
        }
        buckets_.clear();
    }

    std::string_view line_, rest_;
    std::string family_;
    std::set<std::string> helps_;
    std::map<std::string, std::string> types_;
    std::map<series, double> values_;
    std::map<labels, std::vector<std::pair<double, double>>> buckets_;
};

}  // namespace redlock::testing

#endif
