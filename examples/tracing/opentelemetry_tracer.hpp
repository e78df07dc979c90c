// The same tracer on OpenTelemetry's C++ API: spans go wherever the program's TracerProvider sends them.
#ifndef REDLOCK_EXAMPLES_TRACING_OPENTELEMETRY_TRACER_HPP
#define REDLOCK_EXAMPLES_TRACING_OPENTELEMETRY_TRACER_HPP

#include "tracer.hpp"

#include <opentelemetry/trace/provider.h>

#include <iterator>
#include <utility>

namespace tracing {

namespace otel = opentelemetry;

// API's spans end by the steady clock, and events are told by the wall clock: the present moment of both is taken for one.
inline otel::common::SteadyTimestamp steady(time at)
{
    return otel::common::SteadyTimestamp{std::chrono::steady_clock::now() - (std::chrono::system_clock::now() - at)};
}
inline otel::nostd::string_view view(std::string_view text) { return {text.data(), text.size()}; }

class opentelemetry_span final : public span {
public:
    explicit opentelemetry_span(otel::nostd::shared_ptr<otel::trace::Span> s) : span_{std::move(s)} {}

    span_ids ids() const override
    {
        auto const context = span_->GetContext();
        char trace[32]{}, id[16]{};
        context.trace_id().ToLowerBase16(trace);
        context.span_id().ToLowerBase16(id);
        return {{std::begin(trace), std::end(trace)}, {std::begin(id), std::end(id)}};
    }
    void set(std::string_view name, std::string_view value) override { span_->SetAttribute(view(name), view(value)); }
    void set(std::string_view name, std::int64_t value) override { span_->SetAttribute(view(name), value); }
    void add_event(std::string_view name, time at) override { span_->AddEvent(view(name), otel::common::SystemTimestamp{at}); }
    void fail(std::string_view why) override { span_->SetStatus(otel::trace::StatusCode::kError, view(why)); }
    void end(time at) override { span_->End({steady(at)}); }

private:
    otel::nostd::shared_ptr<otel::trace::Span> span_;
};

class opentelemetry_tracer final : public tracer {
public:
    std::shared_ptr<span> start(std::string_view name, span_ids const& parent, time at) override
    {
        otel::trace::StartSpanOptions options;
        options.start_system_time = otel::common::SystemTimestamp{at};
        options.start_steady_time = steady(at);
        options.parent = context_of(parent);
        return std::make_shared<opentelemetry_span>(tracer_->StartSpan(view(name), {}, options));
    }

private:
    static otel::nostd::variant<otel::trace::SpanContext, otel::context::Context> context_of(span_ids const& ids)
    {
        if (ids.trace.size() != 32 || ids.span.size() != 16) return otel::context::Context{}.SetValue(otel::trace::kIsRootSpanKey, true);
        std::uint8_t trace[16]{}, id[8]{};
        for (std::size_t i = 0; i < std::size(trace); ++i)
            trace[i] = static_cast<std::uint8_t>(std::stoi(ids.trace.substr(2 * i, 2), nullptr, 16));
        for (std::size_t i = 0; i < std::size(id); ++i)
            id[i] = static_cast<std::uint8_t>(std::stoi(ids.span.substr(2 * i, 2), nullptr, 16));
        otel::trace::TraceFlags const sampled{otel::trace::TraceFlags::kIsSampled};
        return otel::trace::SpanContext{otel::trace::TraceId{trace}, otel::trace::SpanId{id}, sampled, false};
    }

    otel::nostd::shared_ptr<otel::trace::Tracer> tracer_{otel::trace::Provider::GetTracerProvider()->GetTracer("redlock")};
};

}  // namespace tracing

#endif
