// Random schedules of the token protocol on real servers. Prints what it saw; ends with 1 if a promise was broken, or, with
// --mutant, if none was.
#include "drive.hpp"
#include "schedule.hpp"

#include <fstream>

int main(int argc, char** argv)
{
    using namespace redlock::fencing;
    CLI::App app{"Random schedules of the token protocol on real servers"};
    drive_choices chosen{app, mutant_names};
    std::string transitions;
    app.add_option("--transitions", transitions, "Write what happens in the proof's terms to this file, for tests/proof/replay.py")
        ->type_name("FILE");
    CLI11_PARSE(app, argc, argv);

    bool const recorded = !transitions.empty();
    std::ofstream out;
    std::mutex one_writes;
    if (recorded) out.open(transitions, std::ios::binary | std::ios::trunc);
    driven<outcome> all;
    drive<cluster>(all, chosen, [&](cluster& world, std::uint64_t seed) {
        schedule one{world, seed, chosen.mutant<mutant>(), recorded};
        outcome result = one.run();
        std::lock_guard const lock{one_writes};
        if (recorded) out << one.transitions_text();
        return result;
    });
    out.close();
    if (recorded && !out) all.error = "cannot write " + transitions;
    std::printf("schedules=%llu attempts=%llu completed=%llu losses=%llu admissions=%llu extensions=%llu recreates=%llu "
                "violations=%llu\n",
                printed(all.schedules), printed(all.sum.attempts), printed(all.sum.completed), printed(all.sum.losses),
                printed(all.sum.admissions), printed(all.sum.extensions), printed(all.sum.recreates), printed(all.violations));
    return verdict(all, chosen);
}
