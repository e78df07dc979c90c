#include "visitors.hpp"

#include "transition_log.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace redlock::simulation {

namespace {

constexpr std::size_t max_here = 4;
constexpr std::size_t enough_answers = 8;  // in calm: others would only repeat them

}  // namespace

struct visitors::visit {
    visit(process& p, std::shared_ptr<client> c) : in{&p}, connected{std::move(c)} {}

    process* in;
    std::shared_ptr<client> connected;
    std::unique_ptr<user> who{};
};

// As one process sees what the machine's processes have noted.
class visitors::notes final : public detail::quarantine_log {
public:
    notes(universe& in, std::shared_ptr<std::vector<quorum::mark_sighting>> all) : world_{in}, all_{std::move(all)} {}

    std::vector<quorum::mark_sighting> read() override { return *all_; }

    void add(quorum::mark_sighting const& s, std::string const&) override
    {
        auto const there = find(s.id, s.mark);
        if (there != all_->end()) {
            there->seen = std::min(there->seen, s.seen);
        } else {
            all_->push_back(s);
            mine_.insert(s.mark);
        }
    }

    void remove(std::string const& id, std::string const& mark) override
    {
        auto const there = find(id, mark);
        if (there == all_->end()) return;
        if (!mine_.contains(mark)) ++world_.covered->wait_carried;
        all_->erase(there);
    }

    std::string problem() const override { return ""; }

private:
    std::vector<quorum::mark_sighting>::iterator find(std::string const& id, std::string const& mark) const
    {
        return std::find_if(all_->begin(), all_->end(), [&](auto const& s) { return s.id == id && s.mark == mark; });
    }

    universe& world_;
    std::shared_ptr<std::vector<quorum::mark_sighting>> all_;
    std::set<std::string> mine_;
};

visitors::visitors(stage& on, machine_clock const& clock, client_settings const& settings, duration calm, duration until)
    : stage_{on},
      clock_{clock},
      settings_{settings},
      calm_{calm},
      until_{until},
      max_every_{on.world.chance.between(on.usual.ttl / 2, 2 * on.usual.ttl)}
{
    come();
}

visitors::~visitors() = default;

bool visitors::come_no_more() const noexcept { return answers_in_calm_ >= enough_answers || stage_.world.now() >= until_; }

bool visitors::are_gone() const noexcept { return here_ == 0 && come_no_more(); }

void visitors::come()
{
    auto& u = stage_.world;
    if (come_no_more()) return;
    u.after(u.chance.between(1us, max_every_), [this] { come(); });
    if (here_ >= max_here) return;
    ++here_;
    ++u.covered->visitor;
    auto& p = u.add_process(clock_);
    if (!machine_) machine_ = p.index();
    if (u.transitions) u.transitions->set_machine(p.index(), *machine_);
    stage_.rules.keys().excuse("p" + std::to_string(p.index()) + "-");  // it does not stay until all is answered
    auto settings = settings_;
    settings.quarantines = std::make_shared<notes>(u, noted_);
    visits_.push_back(std::make_unique<visit>(p, make_client(u, p, settings)));
    visit& v = *visits_.back();
    v.who = std::make_unique<user>(stage_, p, v.connected);
    p.visit(u.now(), [&] {
        v.connected->run([this, &v](error_code) { stage_.world.after(0ns, [this, &v] { leave(v); }); });
        v.who->ask_once([this, &v] {
            auto const c = v.connected->status().counters;
            if (stage_.world.now() >= calm_ && c.acquired + c.contended > 0) ++answers_in_calm_;
            v.connected->cancel();
        });
    });
}

void visitors::leave(visit& who)
{
    auto& u = stage_.world;
    who.in->visit(u.now(), [&] {
        who.who->client_gone();
        who.connected.reset();
    });
    who.who.reset();
    u.kill(*who.in);
    --here_;
}

}  // namespace redlock::simulation
