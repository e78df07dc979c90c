// Searches the nodes for locks again and again, on a thread of its own, for `redlock dashboard`.
#ifndef REDLOCK_CLI_DASHBOARD_LOCK_WATCH_HPP
#define REDLOCK_CLI_DASHBOARD_LOCK_WATCH_HPP

#include "cli/locks/lock_search.hpp"

#include <redlock/config.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace redlock::cli {

struct lock_watch_settings {
    std::string pattern{"*"};
    search_limits limits;
    std::chrono::milliseconds interval{1'000};  // between two searches; longer where a search takes longer
    std::chrono::milliseconds timeout{500};
};

class lock_watch {
public:
    struct found {
        search_result result;
        std::chrono::system_clock::time_point at;  // the end of the search
    };
    // Called on the thread of this object. Its exceptions end the process.
    using handler = std::function<void(found)>;

    lock_watch(config const& settings, lock_watch_settings how, handler tell);
    lock_watch(lock_watch const&) = delete;
    lock_watch& operator=(lock_watch const&) = delete;
    ~lock_watch();

    // Nodes with a problem are not asked by the next searches, which would wait for them. From any thread.
    void problems(std::vector<std::string> by_node);

private:
    void run();

    lock_watch_settings how_;
    server_group nodes_;
    lock_key_pattern pattern_;
    handler tell_;
    std::mutex problems_mutex_;
    std::vector<std::string> problems_;
    std::thread thread_;
};

}  // namespace redlock::cli

#endif
