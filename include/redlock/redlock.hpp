// All of redlock, except redlock/json.hpp, redlock/json_log.hpp, redlock/prometheus.hpp and redlock/testing.hpp.
#ifndef REDLOCK_REDLOCK_HPP
#define REDLOCK_REDLOCK_HPP

#include <redlock/acquire_error.hpp>
#include <redlock/attempt_report.hpp>
#include <redlock/client.hpp>
#include <redlock/clock.hpp>
#include <redlock/config.hpp>
#include <redlock/credentials.hpp>
#include <redlock/election.hpp>
#include <redlock/error.hpp>
#include <redlock/event.hpp>
#include <redlock/fence_guard.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>
#include <redlock/lock_mode.hpp>
#include <redlock/observer.hpp>
#include <redlock/operation_error.hpp>
#include <redlock/options.hpp>
#include <redlock/published.hpp>
#include <redlock/rw_lock.hpp>
#include <redlock/scope_error.hpp>
#include <redlock/semaphore.hpp>
#include <redlock/status.hpp>
#include <redlock/version.hpp>
#include <redlock/with_lock.hpp>

#endif
