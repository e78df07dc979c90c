// Decides what a request to `redlock dashboard` is answered. web_server reads the requests and sends the answers. No I/O.
#ifndef REDLOCK_CLI_DASHBOARD_WEB_ANSWERS_HPP
#define REDLOCK_CLI_DASHBOARD_WEB_ANSWERS_HPP

#include "cli/dashboard/access_token.hpp"
#include "cli/locks/list_part.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock::cli {

struct web_request {
    std::string_view method;
    std::string_view target;
    std::optional<std::string_view> host;  // none: the request has no Host, or more than one
    std::string_view authorization;  // empty: none
};

struct web_answer {
    unsigned status{200};
    std::string_view type{"text/plain; charset=utf-8"};
    std::shared_ptr<std::string const> body;
    std::vector<std::pair<std::string_view, std::string>> headers;  // besides Content-Type and Content-Length
    bool without_body{false};  // HEAD: the body is only measured
};

// The answers of a dashboard: its page, and its data as JSON.
class web_answers {
public:
    using text = std::shared_ptr<std::string const>;

    // `data`: the JSON at this moment, with so much of the locks. `names`: the host's names besides addresses and localhost. `token`: who does not know it is told nothing; none:
    // all may ask.
    web_answers(std::string page, std::function<text(list_part const&)> data, std::vector<std::string> names,
                std::optional<access_token> token);

    web_answer to(web_request const& request) const;

    // For what is no request: `why` in a sentence.
    static web_answer refusal(unsigned status, std::string const& why);

private:
    web_answer found(web_request const& request) const;

    text page_;
    std::string policy_;  // Content-Security-Policy of the page
    std::function<text(list_part const&)> data_;
    std::vector<std::string> names_;
    std::optional<access_token> token_;
};

}  // namespace redlock::cli

#endif
