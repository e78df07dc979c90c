// A tracer without a library: writes each span that has ended as a line of OTLP in JSON, which the OpenTelemetry Collector reads from a file
// (its receiver otlpjsonfile) and passes on.
#ifndef REDLOCK_EXAMPLES_TRACING_OTLP_FILE_HPP
#define REDLOCK_EXAMPLES_TRACING_OTLP_FILE_HPP

#include "tracer.hpp"

#include <nlohmann/json.hpp>

#include <mutex>
#include <ostream>
#include <random>
#include <utility>

namespace tracing {

class otlp_file final : public tracer, public std::enable_shared_from_this<otlp_file> {
public:
    // The stream must outlive all spans.
    otlp_file(std::string service, std::ostream& to) : service_{std::move(service)}, to_{to} {}

    std::shared_ptr<span> start(std::string_view name, span_ids const& parent, time at) override
    {
        std::lock_guard const guard{writing_};
        span_ids const ids{parent.trace.empty() ? digits(32) : parent.trace, digits(16)};
        nlohmann::ordered_json text{
            {"traceId", ids.trace}, {"spanId", ids.span}, {"parentSpanId", parent.span}, {"name", name}, {"kind", 1}};
        text["startTimeUnixNano"] = nanoseconds(at);
        return std::make_shared<line>(shared_from_this(), ids, std::move(text));
    }

private:
    using json = nlohmann::ordered_json;

    class line final : public span {
    public:
        line(std::shared_ptr<otlp_file> to, span_ids ids, json text) : to_{std::move(to)}, ids_{std::move(ids)}, text_(std::move(text)) {}

        span_ids ids() const override { return ids_; }
        void set(std::string_view name, std::string_view value) override { add(name, {{"stringValue", value}}); }
        void set(std::string_view name, std::int64_t value) override { add(name, {{"intValue", std::to_string(value)}}); }
        void add_event(std::string_view name, time at) override
        {
            text_["events"].push_back({{"timeUnixNano", nanoseconds(at)}, {"name", name}});
        }
        void fail(std::string_view why) override { text_["status"] = {{"code", 2}, {"message", why}}; }
        void end(time at) override
        {
            text_["endTimeUnixNano"] = nanoseconds(at);
            to_->write(text_);
        }

    private:
        void add(std::string_view name, json value) { text_["attributes"].push_back({{"key", name}, {"value", std::move(value)}}); }

        std::shared_ptr<otlp_file> to_;
        span_ids ids_;
        json text_;
    };

    // 64 bits are a text in OTLP's JSON.
    static std::string nanoseconds(time at) { return std::to_string(std::chrono::nanoseconds{at.time_since_epoch()}.count()); }

    std::string digits(std::size_t count)
    {
        std::string text(count, '0');
        for (char& digit : text) digit = "0123456789abcdef"[random_() % 16];
        return text;
    }

    void write(json const& ended)
    {
        json const resource{{"attributes", {{{"key", "service.name"}, {"value", {{"stringValue", service_}}}}}}};
        json const scope{{"scope", {{"name", "redlock"}}}, {"spans", {ended}}};
        json const all{{"resourceSpans", {{{"resource", resource}, {"scopeSpans", {scope}}}}}};
        std::lock_guard const guard{writing_};
        to_ << all.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl;
    }

    std::string service_;
    std::ostream& to_;
    std::mutex writing_;
    std::mt19937_64 random_{std::random_device{}()};
};

}  // namespace tracing

#endif
