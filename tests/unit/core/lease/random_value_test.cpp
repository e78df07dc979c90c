// Where the values of locks come from: the system's random source, or an error. Never anything else.
#include "core/random_value.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cerrno>
#include <cstddef>
#include <set>
#include <string>
#include <system_error>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using source = redlock::detail::random_values;

std::string next(source& values) { return redlock::detail::lock_value{values.next(), nullptr}.text(); }

// From here on getrandom fails with EIO in this process. False when the kernel does not let us.
bool take_away_the_random_source()
{
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrandom, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EIO),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    sock_fprog const filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

enum end : int { failed_with_eio, gave_a_value, failed_otherwise, not_allowed };

// In a process of its own.
end value_without_a_source()
{
    if (!take_away_the_random_source()) return not_allowed;
    try {
        source values;
        next(values);
        return gave_a_value;
    } catch (std::system_error const& e) {
        return e.code() == std::error_code{EIO, std::generic_category()} ? failed_with_eio : failed_otherwise;
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(random_values)

BOOST_AUTO_TEST_CASE(a_value_is_32_hexadecimal_digits)
{
    source values;
    auto const value = next(values);
    BOOST_TEST(value.size() == 32u);
    BOOST_TEST(value.find_first_not_of("0123456789abcdef") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(no_value_comes_twice_and_every_digit_takes_part)
{
    constexpr std::size_t count = 100'000;
    std::set<std::string> seen;
    source values;
    std::array<std::set<char>, 32> digits;
    for (std::size_t i = 0; i < count; ++i) {
        auto const value = next(values);
        for (std::size_t d = 0; d < value.size(); ++d) digits[d].insert(value[d]);
        seen.insert(value);
    }
    BOOST_TEST(seen.size() == count);
    for (auto const& of_place : digits) BOOST_TEST(of_place.size() == 16u);
}

BOOST_AUTO_TEST_CASE(without_the_systems_source_there_is_an_error_and_no_value)
{
    pid_t const child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) ::_exit(value_without_a_source());
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_REQUIRE(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == failed_with_eio);
}

BOOST_AUTO_TEST_SUITE_END()
