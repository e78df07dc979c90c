// Judges worlds of another kind than schedule.cpp's by what holders believe and by what a register accepts: nothing that a server says counts.
#ifndef REDLOCK_TESTS_SIMULATION_BELIEF_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_BELIEF_JUDGE_HPP

#include "universe.hpp"

#include <redlock/lease.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace redlock::simulation {

class belief_judge {
public:
    belief_judge(universe& in, std::function<void(std::string const&)> violation);

    // A lease, while somebody believes in it.
    class belief {
    public:
        belief(belief_judge& by, std::size_t process, lease const& held, std::string name);
        ~belief();
        belief(belief const&) = delete;
        belief& operator=(belief const&) = delete;

        // The holder writes to what the lock protects; perhaps after the lease has ended.
        void write() const { judge_.write(name_, held_); }

    private:
        friend class belief_judge;

        belief_judge& judge_;
        std::size_t process_;
        lease const& held_;
        std::string name_;
    };

    // After every step of the world: of the leases on one name, at most one is valid.
    void look() const;

private:
    struct cell {
        std::uint64_t token{0};
        lease const* writer{nullptr};
    };

    void write(std::string const& name, lease const& held);

    universe& world_;
    std::function<void(std::string const&)> violation_;
    std::vector<belief const*> beliefs_;
    std::map<std::string, cell> registers_;
};

}  // namespace redlock::simulation

#endif
