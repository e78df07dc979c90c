#include "resource_judge.hpp"

#include "judge.hpp"

#include <algorithm>

namespace redlock::simulation {

void resource_judge::access(lease_facts const& w)
{
    if (!w.has_tokens()) return;
    auto& covered = *rules_.world().covered;
    for (std::string const& name : w.names) {
        auto& what = resources_[name];
        bool const refused = w.token < what.token || (!w.reads && w.token <= what.readers);
        if (refused == (w.reads ? what.guard.admit_shared(w.token) : what.guard.admit(w.token)))
            rules_.violation("redlock::fence does not keep its rule, with a token of " + w.called());
        if (refused) {
            ++(w.reads ? covered.reading_refused : covered.write_refused);
            // Nobody with a larger token can have been there: it would have needed a key that this lease still has. Only those whose
            // hold it is, too, may have moved on to a later token.
            bool const by_itself = w.token < what.token && what.writer == w.acquired_by();
            if (rules_.assumes().exclusion(true) && !by_itself && rules_.valid(w))
                rules_.violation("what \"" + name + "\" protects refused the holder of a valid lease: " + w.called());
            continue;
        }
        ++(w.reads ? covered.access_of_reader : covered.written);
        if (w.token == what.token && what.writer != w.acquired_by())
            rules_.violation("two holders write with one token: " + what.writer + " and " + w.called());
        if (w.reads) {
            what.readers = std::max(what.readers, w.token);
        } else {
            what.token = w.token;
            what.writer = w.acquired_by();
        }
    }
}

}  // namespace redlock::simulation
