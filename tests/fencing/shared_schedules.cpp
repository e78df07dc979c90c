// Random schedules of read-write locks on real servers, which are compared with their models at each step. Prints what it saw; ends with 1 if a
// promise was broken or a server did otherwise than its model, or, with --mutant, if no promise was broken.
#include "drive.hpp"
#include "shared_schedule.hpp"

int main(int argc, char** argv)
{
    using namespace redlock::fencing;
    CLI::App app{"Random schedules of read-write locks on real servers"};
    drive_choices chosen{app, shared_mutant_names};
    bool with_models = false;
    app.add_flag("--models", with_models, "With --mutant: a server that does otherwise than its model counts, too");
    CLI11_PARSE(app, argc, argv);

    auto const m = chosen.mutant<shared_mutant>();
    bool const strict = with_models || chosen.is_whole();
    driven<shared_outcome> all;
    drive<shared_world>(all, chosen, [&](shared_world& world, std::uint64_t seed) {
        return shared_schedule{world, scripts_of(m), seed, m, strict}.run();
    });
    std::printf("schedules=%llu attempts=%llu readers=%llu writers=%llu downgrades=%llu extensions=%llu together=%llu losses=%llu "
                "violations=%llu\n",
                printed(all.schedules), printed(all.sum.attempts), printed(all.sum.readers), printed(all.sum.writers),
                printed(all.sum.downgrades), printed(all.sum.extensions), printed(all.sum.together), printed(all.sum.losses),
                printed(all.violations));
    return verdict(all, chosen);
}
