#include "timeline.hpp"

#include "live_timeline.hpp"
#include "text.hpp"

namespace demo {
namespace {

class plain_timeline final : public timeline {
public:
    explicit plain_timeline(terminal const& out) : out_{out} {}

    void add(entry const& what) override { out_.write(one_line(out_, what, 200) + "\n"); }
    void draw(picture const&) override {}

private:
    terminal const& out_;
};

}  // namespace

std::unique_ptr<timeline> make_timeline(terminal const& out)
{
    if (out.live()) return std::make_unique<live_timeline>(out);
    return std::make_unique<plain_timeline>(out);
}

std::string one_line(terminal const& out, entry const& what, std::size_t width)
{
    std::string const start = right(seconds(what.at), 10) + "  " + left(what.subject, 8) + "  ";
    if (start.size() >= width) return start.substr(0, width);
    return start + out.paint(what.tone, what.words.substr(0, width - start.size()));
}

}  // namespace demo
