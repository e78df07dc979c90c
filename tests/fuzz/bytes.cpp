// Any bytes as what a server sends, with its pushes in between: parsed as Boost.Redis parses them.
#include "wire.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock::fuzz;
    input in{data, size};
    conversation const talk{in};
    wire from_server{in.rest()};
    redlock::detail::push_reader pushes;
    std::vector<answer> answers;
    while (answers.size() < talk.calls()) {
        auto message = from_server.next();
        if (!message) return 0;  // the connection is lost, and with it every vote
        if (wire::is_push(*message)) check_push(pushes, *message);
        else answers.push_back(std::move(*message));
    }
    talk.judge(answers);
    return 0;
}
