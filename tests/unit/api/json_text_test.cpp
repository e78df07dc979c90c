#include "unit/message_support.hpp"

#include <redlock/json.hpp>

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

namespace redlock {

namespace {

std::string problem_with_text(std::string_view text)
{
    return message_of<config_error>([&] { parse_settings(text); });
}

std::string problem_with_file(std::filesystem::path const& file)
{
    return message_of<config_error>([&] { load_settings(file); });
}

// A folder with one file in it; gone at the end.
class configuration_file {
public:
    explicit configuration_file(std::string const& text)
    {
        static int made = 0;
        folder_ = std::filesystem::temp_directory_path() / ("redlock-unit-" + std::to_string(::getpid()) + '-' + std::to_string(++made));
        std::filesystem::create_directory(folder_);
        std::ofstream{path(), std::ios::binary} << text;
    }
    configuration_file(configuration_file const&) = delete;
    configuration_file& operator=(configuration_file const&) = delete;
    ~configuration_file()
    {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    std::filesystem::path path() const { return folder_ / "redlock.json"; }
    std::filesystem::path folder() const { return folder_; }

private:
    std::filesystem::path folder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(json_text)

BOOST_AUTO_TEST_CASE(malformed_json_is_named_by_line_and_column)
{
    BOOST_TEST(problem_with_text("{\n  \"nodes\": [\"redis://a\"],\n  \"lock\": }\n") == "line 3, column 11: malformed JSON at '}'");
    BOOST_TEST(problem_with_text(R"({"nodes": ["redis://a"],})") == "line 1, column 25: malformed JSON at '}'");
    BOOST_TEST(problem_with_text(R"({"nodes" ["redis://a"]})") == "line 1, column 10: malformed JSON at '['");
    BOOST_TEST(problem_with_text("{\r\n\"nodes\": x}") == "line 2, column 10: malformed JSON");
    BOOST_TEST(problem_with_text("{'nodes': []}") == "line 1, column 2: malformed JSON");
}

BOOST_AUTO_TEST_CASE(a_column_counts_characters_not_bytes)
{
    BOOST_TEST(problem_with_text("{\"client_name\": \"caf\xc3\xa9\" }}") == "line 1, column 25: malformed JSON at '}'");
}

BOOST_AUTO_TEST_CASE(a_text_that_ends_too_early_says_so)
{
    BOOST_TEST(problem_with_text("") == "line 1, column 1: malformed JSON: the text ends too early");
    BOOST_TEST(problem_with_text("{") == "line 1, column 2: malformed JSON: the text ends too early");
    BOOST_TEST(problem_with_text("{\"nodes\": [\"redis://a\"]\n") == "line 2, column 1: malformed JSON: the text ends too early");
    BOOST_TEST(problem_with_text("{\"nodes") == "line 1, column 8: malformed JSON: the text ends too early");
}

BOOST_AUTO_TEST_CASE(every_beginning_of_a_good_text_is_malformed)
{
    std::string const good = R"({"nodes": ["redis://a", {"host": "b", "port": 1}],
        "lock": {"clock_drift": 0.01, "auto_extend": true}})";
    BOOST_TEST(problem_with_text(good) == "");
    for (std::size_t size = 0; size < good.size(); ++size) REDLOCK_TEST_CONTAINS(problem_with_text(good.substr(0, size)), "malformed JSON");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_are_malformed)
{
    REDLOCK_TEST_CONTAINS(problem_with_text("{\"client_name\": \"\xff\"}"), "line 1, column 18: malformed JSON");
}

BOOST_AUTO_TEST_CASE(comments_are_allowed)
{
    BOOST_TEST(problem_with_text("// three nodes\n{\"nodes\": [\"redis://a\" // first\n]}\n// end") == "");
}

BOOST_AUTO_TEST_CASE(lines_of_comments_are_counted)
{
    REDLOCK_TEST_CONTAINS(problem_with_text("// one\n// two\n{]"), "line 3, column 2: malformed JSON at ']'");
}

BOOST_AUTO_TEST_CASE(a_number_that_is_too_large_for_the_parser_is_named_by_its_place)
{
    BOOST_TEST(problem_with_text(R"({"nodes": [{"host": "a"}], "lock": {"ttl_ms": 1, "clock_drift": 1e999}})") ==
               "lock.clock_drift: the number is too large");
    BOOST_TEST(problem_with_text(R"({"nodes": ["redis://a", {"host": "b", "port": -1e999}]})") == "nodes[1].port: the number is too large");
    BOOST_TEST(problem_with_text(R"([[1, 2], 1e999])") == "[1]: the number is too large");
    BOOST_TEST(problem_with_text("1e999") == "the document: the number is too large");
}

BOOST_AUTO_TEST_CASE(deep_nesting_is_no_problem)
{
    std::string const open(100'000, '[');
    REDLOCK_TEST_CONTAINS(problem_with_text(open), "malformed JSON: the text ends too early");
    BOOST_TEST(problem_with_text(open + std::string(100'000, ']')) == "the document: expected an object, found a list");
}

BOOST_AUTO_TEST_CASE(a_file_is_read)
{
    configuration_file const file{"\xef\xbb\xbf{\"nodes\": [\"redis://a\"]}"};
    BOOST_TEST(load_settings(file.path()).client.nodes.size() == 1u);
}

BOOST_AUTO_TEST_CASE(errors_in_a_file_begin_with_its_name)
{
    configuration_file const malformed{"{\n]"};
    BOOST_TEST(problem_with_file(malformed.path()) == malformed.path().string() + ": line 2, column 1: malformed JSON at ']'");
    configuration_file const wrong{R"({"nodes": ["redis://a"], "lock": {"ttl_ms": "10s"}})"};
    BOOST_TEST(problem_with_file(wrong.path()) ==
               wrong.path().string() + ": lock.ttl_ms: expected a whole number of milliseconds, found \"10s\"");
}

BOOST_AUTO_TEST_CASE(a_file_that_is_missing_says_so)
{
    configuration_file const file{""};
    auto const missing = file.folder() / "missing.json";
    BOOST_TEST(problem_with_file(missing) == missing.string() + ": cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_directory_says_so)
{
    configuration_file const file{""};
    BOOST_TEST(problem_with_file(file.folder()) == file.folder().string() + ": this is a directory, not a file");
}

BOOST_AUTO_TEST_CASE(an_empty_file_says_so)
{
    configuration_file const file{""};
    REDLOCK_TEST_CONTAINS(problem_with_file(file.path()), "line 1, column 1: malformed JSON: the text ends too early");
}

BOOST_AUTO_TEST_CASE(a_huge_file_is_not_read_to_its_end)
{
    configuration_file const file{std::string((1 << 20) + 1, ' ')};
    BOOST_TEST(problem_with_file(file.path()) == file.path().string() + ": is larger than 1 MiB: this is no configuration");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
