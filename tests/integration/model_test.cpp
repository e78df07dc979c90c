// The servers of story tests and of the simulation do what a real server does: the same random commands to both.
#include "protocol/admission_scripts.hpp"
#include "protocol/fence_answers.hpp"
#include "protocol/fence_scripts.hpp"
#include "protocol/scripts.hpp"
#include "protocol/state_scripts.hpp"
#include "support/fenced_server.hpp"
#include "support/redis_server.hpp"
#include "support/watching_node.hpp"
#include "testing/redis_model.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <regex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;
using detail::command;
using detail::verb;

// The keys of locks, of one and of several.
std::array<words, 7> const locks{words{"a"},      words{"b"},      words{"c"},          words{"a", "b"},
                                 words{"a", "c"}, words{"b", "c"}, words{"a", "b", "c"}};

command on(words const& keys, verb what, std::string_view value, std::chrono::milliseconds ttl)
{
    command c{what, keys.front(), value, ttl};
    c.others = std::span{keys}.subspan(1);
    return c;
}

// Longer than the test can take, so that nothing expires but what a command lets expire.
constexpr std::chrono::milliseconds long_ttl{100'000};

// For all that is asked on a connection: a bit less than CTest allows, as a loaded machine needs minutes.
constexpr auto max_all_commands = 280s;

struct both {
    redis_server server;
    resp_client real{loopback::ipv4, server.port(), max_all_commands};
    redis_model model;
    time_point const now{1h};

    bool really_granted(command const& c)
    {
        std::string const key{c.key};
        std::string const value{c.value};
        auto const ttl = std::to_string(c.ttl.count());
        bool const several = !c.others.empty();
        switch (c.what) {
        case verb::acquire:
            if (several) return eval(detail::acquire_several_script(), c, {value, ttl}).text == "OK";
            return real.ask({"SET", key, value, "NX", "PX", ttl}).text == "OK";
        case verb::extend: {
            words arguments;
            for (std::size_t i = 0; i < c.key_count(); ++i) append(arguments, {value, ttl});
            auto const answer = eval(detail::extend_script(), c, arguments);
            BOOST_REQUIRE(answer.items.size() == c.key_count());
            return answer.items == words(c.key_count(), "1");
        }
        case verb::release: return eval(several ? detail::release_several_script() : detail::release_script(), c, {value}).text == "1";
        case verb::adopt: return eval(detail::adopt_script(), c, {std::string{c.more().former}, value, ttl}).text == "1";
        default: return false;
        }
    }

    resp_reply eval(detail::script const& s, command const& c, words const& arguments)
    {
        words all{"EVAL", std::string{s.text}, std::to_string(c.key_count())};
        for (std::size_t i = 0; i < c.key_count(); ++i) all.emplace_back(c.key_at(i));
        append(all, arguments);
        return real.ask(all);
    }

    std::optional<std::string> really_there(std::string const& key)
    {
        auto const answer = real.ask({"GET", key});
        return answer.is_nil() ? std::nullopt : std::optional{answer.text};
    }
};

// With tokens. An answer is what the seam makes of it, in words: "granted 17", "refused", "failed not admitted".
struct both_with_tokens {
    redis_server server;
    resp_client real{loopback::ipv4, server.port(), max_all_commands};
    redis_model model;
    time_point now{};
    std::minstd_rand random{11};
    std::map<std::string, int> seen;  // how often each verb had each answer, for one key and for several
    std::map<bool, int> marks_met;    // votes above the guard, where a climb had left its mark; by whether it was on several keys
    bool recreated_last{false};         // the real server set a key again for the last extension

    both_with_tokens()
    {
        for (auto const* s :
             {&detail::fence_acquire_script(), &detail::fence_confirm_script(), &detail::fence_extend_script(),
              &detail::fence_climb_script(), &detail::fence_acquire_several_script(), &detail::fence_confirm_several_script(),
              &detail::mark_script(), &detail::admit_script(), &detail::release_script(), &detail::release_several_script(),
              &detail::fence_adopt_script(), &detail::state_publish_script(), &detail::state_inherit_script(), &detail::state_peek_script(),
              &detail::claim_script()})
            BOOST_REQUIRE_EQUAL(real.ask({"SCRIPT", "LOAD", std::string{s->text}}).text, s->sha1);
        learn();
        now = time_point{std::chrono::seconds{std::stoll(real.ask({"TIME"}).items.at(0))}};
    }

    void learn()
    {
        auto const text = real.ask({"INFO", "replication"}).text;
        model.id = text.substr(text.find("master_replid:") + 14, 40);
    }

    token_number clock_us() const
    {
        return static_cast<token_number>(std::chrono::duration_cast<std::chrono::microseconds>(now.time_since_epoch()).count());
    }

    std::size_t below(std::size_t n) { return random() / 7 % n; }
    template <class T, std::size_t N>
    T pick(std::array<T, N> const& from)
    {
        return from[below(N)];
    }

    words call(detail::script const& s, words const& keys, words const& arguments)
    {
        words command{"EVALSHA", s.sha1, std::to_string(keys.size())};
        append(command, keys);
        append(command, arguments);
        auto const answer = real.ask(command);
        if (answer.is_error()) return {"error"};
        if (!answer.items.empty()) return answer.items;
        auto const space = answer.text.find(' ');  // an acquire answers two numbers in one text
        return space == std::string::npos ? words{answer.text} : words{answer.text.substr(0, space), answer.text.substr(space + 1)};
    }

    // What the node makes of the numbers that scripts answer.
    static std::string in_words(verb what, words const& answer)
    {
        if (answer[0] == "error") return "failed server error";
        auto const number = std::stoll(answer[0]);
        if (number < detail::fence_needs_guard) return "refused, needs " + std::to_string(detail::fence_needs_guard - number);
        switch (number) {
        case 2: return what == verb::mark ? "refused" : "granted";
        case 1: return what == verb::acquire || what == verb::mark ? "granted " + answer[1] : "granted";
        case 0: return what == verb::mark ? "granted " + answer[1] : "refused";
        case detail::fence_overtaken: return "refused";
        case detail::fence_not_admitted: return what == verb::mark || what == verb::admit ? "refused" : "failed not admitted";
        case detail::fence_ttl_too_long: return "failed ttl too long";
        case detail::fence_no_counter: return "failed no counter";
        case detail::state_no_room: return "failed no room";
        case detail::fence_used_up: return "failed server error";
        default: return "?";
        }
    }

    static std::string in_words(verb what, detail::reply const& r)
    {
        if (r.vote == vote::refused && what == verb::extend && r.counter > 0) return "refused, needs " + std::to_string(r.counter);
        if (r.vote == vote::refused) return "refused";
        if (r.vote == vote::granted && what == verb::acquire) return "granted " + std::to_string(r.counter);
        if (r.vote == vote::granted) return r.words().empty() ? "granted" : "granted " + r.words();
        if (r.error == errc::node_not_admitted) return "failed not admitted";
        if (r.error == errc::ttl_too_long) return "failed ttl too long";
        if (r.error == errc::unexpected_reply)
            return what == verb::publish && r.words().ends_with("state should be") ? "failed no room" : "failed no counter";
        return "failed server error";
    }

    // The worst of the answers for the keys of one lock.
    static std::string worst(words const& answers)
    {
        for (char const* bad : {"failed not admitted", "failed ttl too long", "failed no counter", "refused"})
            if (std::find(answers.begin(), answers.end(), bad) != answers.end()) return bad;
        auto const needed = [](std::string const& a) { return a.starts_with("refused") ? std::stoull(a.substr(a.rfind(' '))) : 0; };
        return *std::max_element(answers.begin(), answers.end(), [&](auto const& a, auto const& b) { return needed(a) < needed(b); });
    }

    std::string really(command const& c, std::string const& learned)
    {
        std::string const name{c.key};
        bool const several = !c.others.empty();
        words names;
        words names_and_fences{"redlock:node", "redlock:hw"};
        for (std::size_t i = 0; i < c.key_count(); ++i) {
            names.emplace_back(c.key_at(i));
            append(names_and_fences, {names.back(), names.back() + ":fence"});
        }
        std::string const value{c.value};
        auto const token = std::to_string(c.token);
        auto const ttl = std::to_string(c.ttl.count());
        auto const retention = std::to_string(c.retention.count());
        words const keys = several ? names_and_fences : words{name, name + ":fence", "redlock:node", "redlock:hw"};
        words const node_keys{"redlock:node", "redlock:hw"};
        std::string const id{c.more().id};
        switch (c.what) {
        case verb::acquire: {
            auto const block = std::to_string(c.block);
            return in_words(c.what, several ? call(detail::fence_acquire_several_script(), names_and_fences,
                                                   {learned, value, ttl, token, block, retention})
                                            : call(detail::fence_acquire_script(), names_and_fences,
                                                   {learned, ttl, block, retention, value, token}));
        }
        case verb::confirm:
            return in_words(c.what, call(several ? detail::fence_confirm_several_script() : detail::fence_confirm_script(), keys,
                                         {learned, value, token, retention}));
        case verb::extend: {
            words arguments{learned, retention, "1", c.refresh ? "1" : "0"};
            for (std::size_t i = 0; i < c.key_count(); ++i) append(arguments, {value, token, ttl});
            words answers = call(detail::fence_extend_script(), names_and_fences, arguments);
            recreated_last = std::find(answers.begin(), answers.end(), "2") != answers.end();
            for (auto& answer : answers) answer = in_words(c.what, words{answer});
            return worst(answers);
        }
        case verb::climb: {
            words arguments{learned, retention};
            for (std::size_t i = 0; i < c.key_count(); ++i) append(arguments, {value, token, std::to_string(c.more().goal), ttl});
            words answers = call(detail::fence_climb_script(), names_and_fences, arguments);
            for (auto& answer : answers) answer = in_words(c.what, words{answer});
            return worst(answers);
        }
        case verb::adopt:
            return in_words(c.what, call(detail::fence_adopt_script(), names_and_fences,
                                         {learned, std::string{c.more().former}, value, token, ttl, retention}));
        case verb::release:
            return in_words(c.what, call(several ? detail::release_several_script() : detail::release_script(), names, {value}));
        case verb::claim: {
            auto const answer = call(detail::claim_script(), {"redlock:node"},
                                     {id, std::string{c.more().former}, value, c.stays ? "1" : "0", token});
            return answer[0] == "1" ? "granted " + answer[1] : "refused";
        }
        case verb::mark: return in_words(c.what, call(detail::mark_script(), node_keys, {id, value}));
        case verb::admit: return in_words(c.what, call(detail::admit_script(), node_keys, {id, token, ttl, value}));
        case verb::publish:
            return in_words(c.what, call(detail::state_publish_script(), about_state(c),
                                         {learned, value, token, retention, std::to_string(c.more().goal), std::to_string(c.more().since),
                                          std::string{c.more().former}}));
        case verb::inherit: {
            auto const answer = call(detail::state_inherit_script(), about_state(c), {learned, value, token, retention});
            BOOST_REQUIRE_EQUAL(answer.size(), 2u);
            return in_words(c.what, words{answer[0]}) + (answer[0] == "1" && !answer[1].empty() ? " " + answer[1] : "");
        }
        case verb::watch:
        case verb::inspect:
        case verb::peek:
        case verb::keep:
        case verb::look:
        case verb::want: break;
        }
        return "?";
    }

    static words about_state(command const& c)
    {
        std::string const name{c.key};
        return {name, name + ":fence", "redlock:node", "redlock:hw", name + ":published"};
    }

    // A key as the real server has it; "(nil)".
    std::string really_there(std::string const& key) { return real.ask({"GET", key}).text; }

    std::string record_of_the_model() const
    {
        if (!model.record) return "(nil)";
        auto const& r = *model.record;
        return r.id + " " + padded(static_cast<std::int64_t>(r.base), 16) + " " + padded(r.max_ttl.count(), 10) + " " +
               (r.mark.empty() ? "-" : r.mark) + (r.above > 0 ? " " + padded(static_cast<std::int64_t>(r.above), 16) : "");
    }

    std::string counter_of_the_model(std::string const& name)
    {
        auto const* const c = model.find_counter(name, now);
        if (!c) return "(nil)";
        return c->value ? std::to_string(*c->value) + (c->marked ? ".0" : "") : "no number";
    }

    void compare(std::string const& name)
    {
        auto const* const e = model.find(name, now);
        BOOST_REQUIRE_EQUAL(really_there(name), e ? e->value : "(nil)");
        BOOST_REQUIRE_EQUAL(really_there(name + ":fence"), counter_of_the_model(name));
        compare_expiry(name, e ? e->expires : std::nullopt);
        auto const* const c = model.find_counter(name, now);
        compare_expiry(name + ":fence", c ? c->expires : std::nullopt);
        auto const* const state = model.find(name + ":published", now);
        BOOST_REQUIRE_EQUAL(really_there(name + ":published"), state ? state->value : "(nil)");
        compare_expiry(name + ":published", state ? state->expires : std::nullopt);
    }

    void compare_the_node()
    {
        BOOST_REQUIRE_EQUAL(really_there("redlock:node"), record_of_the_model());
        BOOST_REQUIRE_EQUAL(really_there("redlock:hw"), model.high_water ? std::to_string(*model.high_water) : "(nil)");
        BOOST_REQUIRE_EQUAL(really_there("redlock:set"), model.set_record.empty() ? "(nil)" : model.set_record);
    }

    // The real server's clock goes on; ttls differ by more than this takes.
    void compare_expiry(std::string const& key, std::optional<time_point> expires)
    {
        auto const left = std::stoll(real.ask({"PTTL", key}).text);
        BOOST_REQUIRE((left < 0) == !expires);
        if (!expires) return;
        auto const modelled = (*expires - now) / 1ms;
        BOOST_REQUIRE_MESSAGE(left <= modelled && left > modelled - 60'000, key << ": " << left << " and " << modelled << " ms");
    }

    token_number some_token(std::string const& name)
    {
        auto const* const c = model.find_counter(name, now);
        token_number const around = c && c->value && below(4) > 0 ? *c->value : model.high_water.value_or(1'000);
        return around + below(5) - std::min<token_number>(around, below(3));
    }

    token_number some_floor()
    {
        switch (below(5)) {
        case 0: return clock_us();
        case 1: return clock_us() + 11 * 3'600'000'000u;  // within the half-day
        case 2: return clock_us() + 25 * 3'600'000'000u;
        case 3: return clock_us() - 3'600'000'000u;
        default: return 0;
        }
    }

    // Things that happen to a server.
    void lose_something(std::string const& name)
    {
        switch (below(10)) {
        case 8: real.ask({"SET", name + ":published", "no state"}); return model.set(name + ":published", "no state", {}, now);
        case 9: real.ask({"DEL", name + ":published"}); return model.del(name + ":published");
        case 0: real.ask({"FLUSHALL"}); return model.flush_all();
        case 1: real.ask({"DEL", "redlock:node"}); return model.record.reset();
        case 2: real.ask({"DEL", "redlock:hw"}); return model.high_water.reset();
        case 3: real.ask({"SET", name + ":fence", "no number"}); return model.spoil_counter(name);
        case 4:
        case 5: real.ask({"DEL", name}); return model.del(name);
        default: real.ask({"DEL", name + ":fence"}); return model.del_counter(name);
        }
    }

    void admit_if_it_must_be()
    {
        if (model.admitted() || below(4) > 0) return;
        auto const id = model.facts().id;
        command mark{verb::mark, {}, "m0", {}};
        mark.change_more().id = id;
        both_do(mark, id);
        std::string const marked = model.record ? model.record->mark : "";
        command admit{verb::admit, {}, marked, 10'000'000ms};
        admit.token = below(1'000);
        admit.change_more().id = id;
        both_do(admit, id);
        BOOST_REQUIRE(model.admitted());
    }

    // By the client of this server or of one that is gone, in place of the record that is there or of another one.
    void claim_now_and_then()
    {
        if (below(10) > 0) return;
        constexpr std::array records{"", "first", "second", "v2 g001abcdef: third", "v2 g002fedcba: fourth"};
        constexpr std::size_t changed = 3;  // the records from here on are of sets that were changed; nobody writes another one over them
        std::string const id = below(4) > 0 ? model.facts().id : std::string(40, '1');
        std::string const former = below(4) > 0 ? model.set_record : pick(records);
        std::size_t const least = former.starts_with("v2") ? changed : 1;
        command claim{verb::claim, {}, records[least + below(records.size() - least)], {}};
        claim.change_more().id = id;
        claim.stays = below(2) > 0;
        claim.change_more().former = former;
        if (below(3) == 0) claim.token = model.high_water.value_or(1'000) + below(20);  // what others know
        both_do(claim, id);
    }

    // Marks end with a time, and each has its own clock.
    static std::string without_time(std::string const& text) { return std::regex_replace(text, std::regex{"(-[0-9]+)+$"}, ""); }

    void take_over_the_time()
    {
        auto const record = really_there("redlock:node");
        if (!model.record || record.size() <= 69 || without_time(record.substr(69)) != without_time(model.record->mark)) return;
        if (!model.record->mark.empty()) model.record->mark = record.substr(69);
    }

    std::string both_do(command const& c, std::string const& learned)
    {
        auto const* const counter = model.find_counter(c.key, now);
        bool const was_marked = counter && counter->marked && counter->value > c.token;
        auto const answer = model.execute(c, now, learned);
        auto modelled = in_words(c.what, answer);
        auto real_one = really(c, learned);
        if (c.what == verb::mark) {
            modelled = without_time(modelled);
            real_one = without_time(real_one);
            take_over_the_time();
        }
        BOOST_REQUIRE_EQUAL(modelled, real_one);
        if (c.what == verb::extend) BOOST_REQUIRE_EQUAL(answer.recreated, recreated_last);
        if (was_marked && answer.vote == vote::granted && (c.what == verb::climb || c.what == verb::extend)) ++marks_met[!c.others.empty()];
        compare_the_node();
        for (std::size_t i = 0; i < c.key_count(); ++i) compare(std::string{c.key_at(i)});
        auto const without_number = modelled.starts_with("granted")          ? "granted"
                                    : modelled.starts_with("refused, needs") ? "needs"
                                                                             : modelled;
        ++seen[named(c.what, !c.others.empty()) + without_number];
        if (answer.recreated && answer.vote != vote::granted) ++seen["recreated in part"];
        return modelled;
    }

    static std::string named(verb what, bool several) { return std::to_string(static_cast<int>(what)) + (several ? " several " : " one "); }
};

// A watching client and others. Keys that have expired stay until somebody looks, so that it is known who does.
struct both_that_say_what_changes {
    redis_server server{redis_server_options{.arguments = {"--enable-debug-command", "yes"}}};
    resp_client others{loopback::ipv4, server.port(), max_all_commands};
    watching_node ours{server.url()};
    redis_model model;
    time_point now{1h};
    std::set<std::string, std::less<>> watched;
    bool own_command{false};
    keys said;  // by the model
    std::map<std::string, int> seen;

    both_that_say_what_changes()
    {
        BOOST_REQUIRE_EQUAL(others.ask({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}).text, "OK");
        model.on_change = [this](std::string_view key) {
            if (key.empty()) {
                watched.clear();
                said.emplace_back();
            } else if (watched.erase(std::string{key}) > 0 && !own_command) {
                said.emplace_back(key);
            }
        };
    }

    // A command of the watching client. What was pushed before is there with its answer.
    void we_ask(command const& c)
    {
        own_command = true;
        auto const modelled = model.execute(c, now);
        own_command = false;
        auto const real = ours.ask(c);
        BOOST_REQUIRE((real.vote == modelled.vote));
        if (c.what == verb::watch) {
            BOOST_REQUIRE(real.watching);
            compare(real.expires_in, modelled.expires_in);
            watched.emplace(c.key);
            watched.insert(c.others.begin(), c.others.end());
        }
        while (ours.io.poll_one() > 0) {}
        BOOST_REQUIRE(ours.changed == said);
        for (auto const& key : said) ++seen[key.empty() ? "all" : "one"];
        ours.changed.clear();
        said.clear();
    }

    // The real server's clock goes on.
    static void compare(std::optional<std::chrono::milliseconds> real, std::optional<std::chrono::milliseconds> modelled)
    {
        BOOST_REQUIRE(real.has_value() == modelled.has_value());
        if (!real || *real == *modelled) return;
        BOOST_REQUIRE((*modelled != detail::never_expires && *real < *modelled && *real > *modelled - 60s));
    }

    // Until the server's own clock has moved on by so much.
    void wait_for_the_clock(std::chrono::microseconds by)
    {
        auto const clock = [this] {
            auto const shown = others.ask({"TIME"}).items;
            return std::chrono::seconds{std::stoll(shown.at(0))} + std::chrono::microseconds{std::stoll(shown.at(1))};
        };
        auto const until = clock() + by;
        for (int turns = 0; clock() < until; ++turns) BOOST_REQUIRE(turns < 1'000'000);
    }

    void others_ask(std::size_t what, std::string const& key)
    {
        auto const ttl = std::to_string(long_ttl.count());
        auto const* const held = model.find(key, now);
        switch (what) {
        case 0: others.ask({"SET", key, "theirs", "PX", ttl}); return model.set(key, "theirs", long_ttl, now);
        case 1: others.ask({"SET", key, "theirs"}); return model.set(key, "theirs", {}, now);
        case 2: others.ask({"DEL", key}); return model.del(key);
        case 3:
            others.ask({"PEXPIRE", key, ttl});
            model.execute({verb::extend, key, held ? std::string{held->value} : "nobody's", long_ttl}, now);
            return;
        case 4:
            others.ask({"SET", key, "theirs", "PX", "1"});
            model.set(key, "theirs", 1ms, now);
            wait_for_the_clock(3ms);
            now += 3ms;
            ++seen["expired"];
            return;
        case 5:
            others.ask({"GET", key});  // looks, and finds what has expired
            model.execute({verb::release, key, "nobody's", {}}, now);
            return;
        default: others.ask({"FLUSHALL"}); return model.flush_all();
        }
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(model)

BOOST_FIXTURE_TEST_CASE(random_commands_have_the_same_answers_and_leave_the_same_keys, both)
{
    constexpr std::array values{"one", "two"};
    constexpr std::array verbs{verb::acquire, verb::acquire, verb::extend, verb::release, verb::release, verb::adopt};
    std::minstd_rand random{7};
    std::map<std::pair<verb, std::size_t>, int> granted;  // by the number of keys
    std::map<std::pair<verb, std::size_t>, int> refused;
    for (int i = 0; i < 20'000; ++i) {
        auto const& keys = locks[random() / 7 % locks.size()];
        auto c = on(keys, verbs[random() / 7 % verbs.size()], values[random() / 7 % values.size()], long_ttl);
        c.change_more().former = values[random() / 7 % values.size()];
        bool const yes = model.execute(c, now).vote == vote::granted;
        ++(yes ? granted : refused)[{c.what, keys.size()}];
        BOOST_REQUIRE_MESSAGE(really_granted(c) == yes, "command " << i << " on " << keys.size() << " keys from " << keys[0]);
        for (auto const& key : keys) {
            auto const* const entry = model.find(key, now);
            BOOST_REQUIRE(really_there(key) == (entry ? std::optional{entry->value} : std::nullopt));
            if (entry) BOOST_REQUIRE(real.ask({"PTTL", key}).text != "-1");
        }
    }
    for (auto const what : {verb::acquire, verb::extend, verb::release, verb::adopt})
        for (std::size_t const keys : {1u, 2u, 3u}) BOOST_TEST((granted[{what, keys}] > 20 && refused[{what, keys}] > 100), keys);
}

BOOST_FIXTURE_TEST_CASE(so_have_random_commands_with_tokens, both_with_tokens)
{
    constexpr std::array values{"one", "two"};
    constexpr std::array marks{"m0", "m1", "m2"};
    constexpr std::array ttls{1'000'000ms, 1'000'000ms, 1'000'000ms, 1'200'000ms, 20'000'000ms};
    constexpr std::array retentions{2'000'000ms, 3'000'000ms};
    constexpr std::array verbs{verb::acquire, verb::acquire, verb::acquire, verb::confirm, verb::confirm, verb::extend,
                               verb::extend,  verb::climb,   verb::climb,   verb::release, verb::mark,    verb::admit,
                               verb::adopt,   verb::adopt,   verb::publish, verb::publish, verb::inherit};
    for (int i = 0; i < 64'000; ++i) {
        auto const& keys = pick(locks);
        std::string const name = keys[below(keys.size())];
        if (below(20) == 0) lose_something(name);
        admit_if_it_must_be();
        claim_now_and_then();
        auto const what = pick(verbs);
        bool const about_the_node = what == verb::mark || what == verb::admit;
        std::string const learned = below(12) == 0 ? other_id : model.facts().id;
        std::string const left = what == verb::admit && model.record && below(2) == 0 ? model.record->mark : pick(marks);
        bool const about_state = what == verb::publish || what == verb::inherit;
        std::vector<std::string> const alone{name};
        std::string const state = std::to_string(i) + " 3:one" + std::to_string(below(1'000));
        auto c = on(about_state ? alone : keys, what, about_the_node ? std::string_view{left} : std::string_view{pick(values)}, pick(ttls));
        c.fenced = what != verb::release && !about_the_node;
        c.token = what == verb::acquire ? some_floor() : about_the_node ? below(1'000'000) : some_token(name);
        c.change_more().goal = c.token + 1 + below(3);
        c.block = static_cast<std::uint32_t>(below(3) == 0 ? below(4) : 1);
        c.retention = pick(retentions);
        c.refresh = below(2) == 0;
        c.change_more().id = learned;
        c.change_more().former = pick(values);
        if (about_state) {
            c.change_more().goal = c.token - below(2);
            c.change_more().since = 1 + static_cast<std::int64_t>(below(3));
            c.change_more().former = state;
        }
        auto const counter = counter_of_the_model(name);
        BOOST_TEST_CONTEXT("command " << i << ", verb " << static_cast<int>(what) << ", " << c.token << " to " << c.more().goal << ", at "
                                      << counter)
        both_do(c, learned);
    }
    for (bool const several : {false, true}) {
        auto const happened = [&](verb what, std::string const& how) { return seen[named(what, several) + how]; };
        for (auto const what : {verb::acquire, verb::confirm, verb::extend, verb::climb, verb::adopt}) {
            for (std::string const how : {"granted", "refused", "failed not admitted", "failed no counter"})
                BOOST_TEST(happened(what, how) > 20, how);
        }
        for (auto const what : {verb::acquire, verb::extend, verb::adopt}) BOOST_TEST(happened(what, "failed ttl too long") > 50);
        BOOST_TEST(happened(verb::climb, "failed ttl too long") > 20);
        BOOST_TEST(happened(verb::extend, "needs") > 20);
        BOOST_TEST(marks_met[several] > 20);
        BOOST_TEST(happened(verb::acquire, "failed server error") > 5);  // a block of nothing
        for (auto const what : {verb::release, verb::mark, verb::admit})
            BOOST_TEST((happened(what, "granted") > 50 && happened(what, "refused") > 50));
    }
    for (auto const what : {verb::publish, verb::inherit})
        for (std::string const how : {"granted", "refused", "failed not admitted", "failed no counter"})
            BOOST_TEST(seen[named(what, false) + how] > 20, how);
    for (std::string const how : {"granted", "refused"}) BOOST_TEST(seen[named(verb::claim, false) + how] > 500, how);
    BOOST_TEST(seen[named(verb::publish, false) + "failed no room"] > 5);
    BOOST_TEST(seen["recreated in part"] > 50);
}

BOOST_FIXTURE_TEST_CASE(the_same_changes_are_said, both_that_say_what_changes)
{
    keys const names{"a", "b", "c"};
    std::array const values{"ours", "theirs"};
    constexpr std::array verbs{verb::watch, verb::watch, verb::watch, verb::watch, verb::acquire, verb::extend, verb::release};
    std::minstd_rand random{13};
    auto const below = [&](std::size_t n) { return random() / 7 % n; };
    for (int i = 0; i < 3'000; ++i) {
        BOOST_TEST_CONTEXT("step " << i)
        {
            std::string const name = names[below(2)];
            command c{verbs[below(verbs.size())], name, values[below(2)], long_ttl};
            if (c.what == verb::watch) c.others = std::span{names}.subspan(2, below(2));
            we_ask(c);
            auto const many = below(4);
            for (std::size_t n = 0; n < many; ++n) {
                std::string const key = names[below(3)];
                others_ask(below(50) == 0 ? 6 : below(6), key);
            }
        }
    }
    for (std::string const what : {"one", "all", "expired"}) BOOST_TEST(seen[what] > 50, what);
}

BOOST_FIXTURE_TEST_CASE(an_extension_sets_the_whole_ttl_again, both)
{
    command const set{verb::acquire, "a", "one", 10'000ms};
    command const extend{verb::extend, "a", "one", long_ttl};
    BOOST_REQUIRE((model.execute(set, now).vote == vote::granted && really_granted(set)));
    BOOST_REQUIRE((model.execute(extend, now).vote == vote::granted && really_granted(extend)));
    BOOST_TEST(std::stol(real.ask({"PTTL", "a"}).text) > 60'000);
    BOOST_TEST(model.find("a", now + long_ttl) != nullptr);
    BOOST_TEST(model.find("a", now + long_ttl + 1ms) == nullptr);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
