// The part of session that is about permits: which it has, and why it has none yet.
#include "cli/run/session.hpp"

#include "cli/locks/semaphore_text.hpp"
#include "cli/locks/waiting.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

std::string session::slots() const
{
    std::string text;
    for (std::uint32_t const slot : lease_.slots()) text += (text.empty() ? "" : " ") + std::to_string(slot);
    return text;
}

std::string session::what_is_held() const
{
    auto const name = name_in_words(plan_.name);
    return semaphore_ ? name + (plan_.take > 1 ? ", slots " : ", slot ") + slots() : name;
}

// Asks the nodes who holds the permits, and passes the answer to `explain`.
void session::look_at_permits(std::function<void(semaphore_view const&)> explain)
{
    auto const questions = questions_about_semaphore(keys_of(plan_.nodes), plan_.name);
    glance_.emplace(io_.get_executor(), plan_.nodes, questions, glance_timeout,
                    [name = plan_.name, tell = std::move(explain)](std::vector<answers> const& all) { tell(semaphore_in(name, all)); });
}

void session::explain_waiting_for_permits()
{
    look_at_permits([this](semaphore_view const& permits) {
        auto const status = nodes_.status();
        auto const now = boot_clock::now();
        if (!told_.is_due(reason_to_wait_for_permits(permits, status), now)) return;
        auto const waited = now - acquiring_since_;
        auto const text = waiting_for_permits_in_words(permits, plan_.take, status, waited);
        if (!plan_.quiet) say(text);
        events_.waiting(permits, count_voting(status, true), waited);
        manager_.status(text.substr(0, text.find('\n')));
    });
}

void session::explain_no_permit(error_code ec)
{
    look_at_permits([this, ec](semaphore_view const& permits) {
        if (ec == errc::permits_differ) {
            say(other_number_in_words(permits, *plan_.permits));
            return finish(to_int(exit_code::config), run_outcome::permits_differ);
        }
        if (!plan_.quiet || plan_.conflict_code != 0) say(no_permit_in_words(permits, plan_.take, !plan_.once));
        finish(plan_.conflict_code, run_outcome::contended);
    });
}

}  // namespace redlock::cli
