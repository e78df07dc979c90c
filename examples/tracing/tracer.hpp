// The little that lock_spans needs of a tracing library. otlp_file.hpp has it without one, opentelemetry_tracer.hpp on OpenTelemetry's C++ API.
#ifndef REDLOCK_EXAMPLES_TRACING_TRACER_HPP
#define REDLOCK_EXAMPLES_TRACING_TRACER_HPP

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tracing {

using time = std::chrono::sys_time<std::chrono::microseconds>;

// In hexadecimal digits, 32 and 16 of them, as in the header traceparent. Empty: there is no span.
struct span_ids {
    std::string trace;
    std::string span;
};

class span {
public:
    virtual ~span() = default;
    virtual span_ids ids() const = 0;
    virtual void set(std::string_view name, std::string_view value) = 0;
    virtual void set(std::string_view name, std::int64_t value) = 0;
    virtual void add_event(std::string_view name, time at) = 0;
    virtual void fail(std::string_view why) = 0;
    virtual void end(time at) = 0;  // once, after everything else
};

class tracer {
public:
    virtual ~tracer() = default;
    // `parent`: without ids, the span begins a trace.
    virtual std::shared_ptr<span> start(std::string_view name, span_ids const& parent, time at) = 0;
};

}  // namespace tracing

#endif
