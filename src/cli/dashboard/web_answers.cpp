#include "cli/dashboard/web_answers.hpp"

#include "cli/dashboard/listen_address.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>

namespace redlock::cli {

namespace {

std::optional<std::string> decoded(std::string_view text)
{
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        unsigned char byte = static_cast<unsigned char>(text[i] == '+' ? ' ' : text[i]);
        if (text[i] == '%') {
            auto const digits = text.substr(i + 1, 2);
            auto const [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
            if (ec != std::errc{} || end != digits.data() + 2) return std::nullopt;
            i += 2;
        }
        plain += static_cast<char>(byte);
    }
    return plain;
}

bool read_count(std::string const& text, std::size_t& into)
{
    auto const* const end = text.data() + text.size();
    auto const [at, ec] = std::from_chars(text.data(), end, into);
    return ec == std::errc{} && at == end;
}

// None: there is something else in the query.
std::optional<list_part> part_of(std::string_view query)
{
    list_part part;
    while (!query.empty()) {
        auto const one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(query.size(), one.size() + 1));
        auto const name = one.substr(0, one.find('='));
        auto const value = decoded(one.substr(std::min(one.size(), name.size() + 1)));
        if (!value) return std::nullopt;
        if (name == "search") part.search = *value;
        else if (name == "from" ? !read_count(*value, part.from) : name != "rows" || !read_count(*value, part.rows)) return std::nullopt;
    }
    return part;
}

// What the page's own script or style is, in the words of a Content-Security-Policy: nothing else on the page is run or applied, whatever gets there.
std::string source_of(std::string_view page, std::string_view tag)
{
    auto const opening = '<' + std::string{tag} + '>', closing = "</" + std::string{tag} + '>';
    auto const from = page.find(opening);
    auto const to = page.find(closing);
    if (from == std::string_view::npos || to == std::string_view::npos) throw std::logic_error{"the page lacks its " + std::string{tag}};
    auto const content = page.substr(from + opening.size(), to - from - opening.size());
    std::array<unsigned char, 32> digest{};
    ::EVP_Digest(content.data(), content.size(), digest.data(), nullptr, ::EVP_sha256(), nullptr);
    std::array<unsigned char, 48> base64{};
    int const size = ::EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
    return "'sha256-" + std::string{base64.begin(), base64.begin() + size} + '\'';
}

std::string policy_of(std::string_view page)
{
    return "default-src 'none'; script-src " + source_of(page, "script") + "; style-src " + source_of(page, "style") +
           "; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

// For all answers: nobody keeps them, guesses their type, or shows them as a part of his own page.
void add_precautions(web_answer& to)
{
    to.headers.emplace_back("Cache-Control", "no-store");
    to.headers.emplace_back("X-Content-Type-Options", "nosniff");
    to.headers.emplace_back("X-Frame-Options", "DENY");
    to.headers.emplace_back("Referrer-Policy", "no-referrer");
    to.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
    to.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
}

}  // namespace

web_answers::web_answers(std::string page, std::function<text(list_part const&)> data, std::vector<std::string> names,
                         std::optional<access_token> token)
    : page_{std::make_shared<std::string const>(std::move(page))},
      policy_{policy_of(*page_)},
      data_{std::move(data)},
      names_{std::move(names)},
      token_{token}
{
}

web_answer web_answers::to(web_request const& request) const
{
    auto answer = found(request);
    answer.without_body = request.method == "HEAD";
    return answer;
}

web_answer web_answers::found(web_request const& request) const
{
    if (!request.host) return refusal(400, "the request needs one Host");
    if (!may_ask(*request.host, names_))
        return refusal(421, "this dashboard is asked by its address or as localhost; for another name start it with --host NAME");
    if (token_ && !token_->is_in(request.authorization)) {
        auto answer = refusal(401, "this dashboard asks for its token: as the password of any user, or as Authorization: Bearer TOKEN");
        answer.headers.emplace_back("WWW-Authenticate", R"(Basic realm="redlock dashboard", charset="UTF-8")");
        return answer;
    }
    if (!request.target.starts_with('/')) return refusal(400, "the request's target is no path");
    bool const reads = request.method == "GET" || request.method == "HEAD";
    if (!reads) {
        auto answer = refusal(405, "the dashboard only shows: GET and HEAD");
        answer.headers.emplace_back("Allow", "GET, HEAD");
        return answer;
    }
    auto const path = request.target.substr(0, request.target.find('?'));
    web_answer answer;
    if (path == "/") {
        answer.type = "text/html; charset=utf-8";
        answer.body = page_;
        answer.headers.emplace_back("Content-Security-Policy", policy_);
    } else if (path == "/api/status.json") {
        auto const part = part_of(request.target.substr(std::min(path.size() + 1, request.target.size())));
        if (!part) return refusal(400, "of the locks a part can be asked for: ?search=TEXT&from=ROW&rows=NUMBER");
        answer.type = "application/json";
        answer.body = data_(*part);
    } else {
        return refusal(404, "there is / and /api/status.json");
    }
    add_precautions(answer);
    return answer;
}

web_answer web_answers::refusal(unsigned status, std::string const& why)
{
    web_answer answer;
    answer.status = status;
    answer.body = std::make_shared<std::string const>(why + '\n');
    answer.headers.emplace_back("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    add_precautions(answer);
    return answer;
}

}  // namespace redlock::cli
