// What processes leave behind for each other, and what of it is believed.
#include "core/admission/quarantine_folder.hpp"

#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

namespace redlock::detail {
namespace {

using namespace std::chrono_literals;
using quorum::mark_sighting;
using quorum::time_point;

std::string const id(40, 'a');

mark_sighting seen(time_point when, std::string mark = "m1") { return {id, std::move(mark), when}; }

struct in_a_folder {
    std::filesystem::path file(std::string const& mark = "m1") const { return path / (id + '.' + mark); }
    static std::string read(std::filesystem::path const& from)
    {
        std::ifstream stream{from, std::ios::binary};
        return {std::istreambuf_iterator<char>{stream}, {}};
    }
    void write(std::filesystem::path const& to, std::string const& text) const
    {
        std::filesystem::remove(to);
        std::ofstream{to} << text;
        ::chmod(to.c_str(), 0600);
    }
    static mode_t mode(std::filesystem::path const& of)
    {
        struct stat facts{};
        ::stat(of.c_str(), &facts);
        return facts.st_mode & 07777u;
    }

    testing::temporary_folder const parent{"redlock-quarantine-"};
    std::filesystem::path const path = parent.path() / "a" / "quarantine";
    quarantine_folder log{path};
    std::string const clock = clock_of_this_process();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(quarantine_folders)

BOOST_FIXTURE_TEST_CASE(what_one_process_notes_another_one_reads, in_a_folder)
{
    BOOST_TEST(log.read().empty());
    BOOST_TEST(!std::filesystem::exists(path));
    log.add(seen(time_point{90s}), "10.0.0.1:6379");
    log.add(seen(time_point{95s}, "m2"), "10.0.0.2:6379");
    quarantine_folder other{path};
    auto const notes = other.notes();
    BOOST_TEST_REQUIRE(notes.size() == 2u);
    bool const in_order = notes[0].what.mark == "m1";
    BOOST_TEST((notes[in_order ? 0 : 1].what == seen(time_point{90s})));
    BOOST_TEST(notes[in_order ? 0 : 1].node == "10.0.0.1:6379");
    BOOST_TEST(mode(path) == 0700u);
    BOOST_TEST(mode(file()) == 0600u);
    other.remove(id, "m1");
    BOOST_TEST((log.read() == std::vector{seen(time_point{95s}, "m2")}));
    BOOST_TEST(log.problem() == "");
    for (auto const& each : std::filesystem::directory_iterator{path}) BOOST_TEST(each.path() == file("m2"));
}

BOOST_FIXTURE_TEST_CASE(the_first_sighting_stays, in_a_folder)
{
    for (auto const when : {95s, 90s, 99s}) log.add(seen(time_point{when}), "a");
    BOOST_TEST((log.read() == std::vector{seen(time_point{90s})}));
}

BOOST_FIXTURE_TEST_CASE(a_node_of_a_group_or_of_a_changed_set_is_waited_for_as_well, in_a_folder)
{
    for (std::string const of : {"k001:", "g001abcdef:"}) {
        quorum::mark_sighting const s{of + "1234", "m1", time_point{90s}};
        log.add(s, "a");
        BOOST_TEST((log.read() == std::vector{s}));
        log.remove(s.id, s.mark);
        BOOST_TEST(log.read().empty());
    }
}

BOOST_FIXTURE_TEST_CASE(another_boot_or_time_namespace_says_nothing, in_a_folder)
{
    log.add(seen(time_point{90s}), "a");
    auto const text = read(file());
    BOOST_TEST((note_from(text, clock)->what == seen(time_point{90s})));
    auto other_boot = clock;
    other_boot[0] = clock[0] == '0' ? '1' : '0';
    BOOST_TEST(!note_from(text, other_boot));
    BOOST_TEST(!note_from(text, clock + '0'));

    write(file(), to_text({seen(time_point{1s}), "a"}, other_boot));
    write(file("m2"), to_text({seen(time_point{1s}, "m2"), "a"}, other_boot));
    BOOST_TEST(log.read().empty());
    BOOST_TEST(log.problem() == "");
    log.add(seen(time_point{90s}), "a");
    BOOST_TEST((log.read() == std::vector{seen(time_point{90s})}));
    BOOST_TEST(!std::filesystem::exists(file("m2")));
}

BOOST_FIXTURE_TEST_CASE(damaged_files_say_nothing_and_are_replaced, in_a_folder)
{
    log.add(seen(time_point{90s}), "a");
    auto const whole = read(file());
    std::vector<std::string> texts{"", "\n", std::string(5'000, 'x'), whole + '\n', whole + whole, std::string(100, '\0')};
    for (std::size_t size = 1; size < whole.size(); ++size) texts.push_back(whole.substr(0, size));
    for (std::string const wrong : {"seen -90", "seen 90s", "seen 99999999999999999999", "seen ", "seen"}) {
        texts.push_back(whole);
        texts.back().replace(whole.find("seen"), whole.find("\nnode") - whole.find("seen"), wrong);
    }
    texts.push_back('x' + whole);
    texts.push_back(whole);
    texts.back().insert(whole.find('\n'), "x");
    for (std::string const& text : texts) {
        write(file(), text);
        BOOST_TEST(log.read().empty(), text);
        BOOST_TEST(log.problem() == file().string() + " is ignored: it is damaged");
    }
    std::filesystem::rename(file(), file("m2"));
    write(file("m2"), whole);  // true, under the name of another mark
    BOOST_TEST(log.read().empty());
    write(file(), "damaged");
    log.add(seen(time_point{95s}), "a");
    BOOST_TEST((quarantine_folder{path}.read() == std::vector{seen(time_point{95s})}));
}

BOOST_FIXTURE_TEST_CASE(what_others_may_have_written_says_nothing, in_a_folder)
{
    log.add(seen(time_point{90s}), "a");
    auto const whole = read(file());
    ::chmod(file().c_str(), 0620);
    BOOST_TEST(log.read().empty());
    BOOST_TEST(log.problem() == file().string() + " is ignored: other users may write there (chmod go-w)");

    std::filesystem::rename(file(), parent.path() / "elsewhere");
    ::chmod((parent.path() / "elsewhere").c_str(), 0600);
    std::filesystem::create_symlink(parent.path() / "elsewhere", file());
    BOOST_TEST(log.read().empty());
    BOOST_TEST(log.problem() == file().string() + " is ignored: it is a link");
    log.add(seen(time_point{95s}), "a");
    BOOST_TEST((log.read() == std::vector{seen(time_point{95s})}));
    BOOST_TEST(read(parent.path() / "elsewhere") == whole);

    ::chmod(path.c_str(), 0770);
    BOOST_TEST(log.read().empty());
    BOOST_TEST(log.problem() ==
               "other processes will wait anew, as " + path.string() + " cannot be used: other users may write there (chmod go-w)");
    log.add(seen(time_point{80s}), "a");
    ::chmod(path.c_str(), 0700);
    BOOST_TEST((quarantine_folder{path}.read() == std::vector{seen(time_point{95s})}));
    if (::geteuid() == 0) {
        BOOST_TEST_REQUIRE(::chown(file().c_str(), 1, 1) == 0);
        quarantine_folder again{path};
        BOOST_TEST(again.read().empty());
        BOOST_TEST(again.problem() == file().string() + " is ignored: it belongs to another user");
    }
}

BOOST_FIXTURE_TEST_CASE(a_folder_that_cannot_be_made_is_a_problem_in_words, in_a_folder)
{
    std::ofstream{parent.path() / "a"} << "a file";
    log.add(seen(time_point{90s}), "a");
    BOOST_TEST(log.problem() == "other processes will wait anew, as " + path.string() + " cannot be used: Not a directory");
    BOOST_TEST(log.read().empty());
}

BOOST_FIXTURE_TEST_CASE(the_folder_is_bounded_and_strangers_files_stay, in_a_folder)
{
    std::filesystem::create_directories(path);
    write(path / "letter.txt", "Dear redlock");
    std::filesystem::create_directory(path / "folder");
    for (std::size_t i = 0; i < quarantine_folder::max_notes + 3; ++i)
        log.add(seen(time_point{90s + std::chrono::seconds{i}}, "m" + std::to_string(i)), "a");
    auto const all = log.read();
    BOOST_TEST(all.size() == quarantine_folder::max_notes);
    for (auto const& s : all) BOOST_TEST((s.seen >= time_point{93s}));
    BOOST_TEST(read(path / "letter.txt") == "Dear redlock");
    BOOST_TEST(std::filesystem::is_directory(path / "folder"));
    log.add({"../../etc", "passwd", time_point{90s}}, "a");
    log.add({id, "a/b", time_point{90s}}, "a");
    BOOST_TEST(log.read().size() == quarantine_folder::max_notes);
}

BOOST_FIXTURE_TEST_CASE(many_at_once_lose_nothing, in_a_folder)
{
    std::vector<std::thread> processes;
    for (int who = 0; who < 8; ++who)
        processes.emplace_back([this, who] {
            quarantine_folder mine{path};
            for (int i = 0; i < 25; ++i) {
                mine.add(seen(time_point{100s - std::chrono::seconds{(i + who) % 8}}, "shared" + std::to_string(i)), "a");
                mine.add(seen(time_point{90s}, "own" + std::to_string(who) + '-' + std::to_string(i % 4)), "a");
            }
        });
    for (auto& each : processes) each.join();
    std::size_t shared = 0, own = 0;
    for (auto const& s : log.read()) {
        bool const of_all = s.mark.starts_with("shared");
        ++(of_all ? shared : own);
        if (of_all) BOOST_TEST((s.seen <= time_point{100s}));
    }
    BOOST_TEST(shared == 25u);
    BOOST_TEST(own == 32u);
    BOOST_TEST(log.problem() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
