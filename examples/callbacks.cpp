// Without coroutines: each operation calls a function when it is done.
//
//   callbacks URL...
#include <redlock/redlock.hpp>

#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>

using redlock::error_code;
using namespace std::chrono_literals;

class report {
public:
    explicit report(redlock::client& nodes) : nodes_{nodes}, lock_{nodes, "reports:nightly", {.ttl = 10s, .acquire_timeout = 5s}} {}

    void start()
    {
        lock_.acquire([this](error_code ec, redlock::lease lease) {
            if (ec) return end(ec);
            lease_ = std::move(lease);
            lease_.wait_lost(&on_lost);
            write();
        });
    }

    error_code result() const noexcept { return result_; }

private:
    void write()
    {
        std::cout << "report written, with token " << lease_.token() << '\n';
        lease_.release([this](error_code ec) { end(ec); });
    }

    // Also when the lease is released: operation_aborted then.
    static void on_lost(error_code why)
    {
        if (why == redlock::condition::lost) std::cerr << "lost: " << why.message() << '\n';
    }

    void end(error_code ec)
    {
        result_ = ec;
        nodes_.cancel();
    }

    redlock::client& nodes_;
    redlock::lock lock_;
    redlock::lease lease_;
    error_code result_;
};

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: callbacks URL..."};
    boost::asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run([](error_code) {});
    report nightly{nodes};
    nightly.start();
    io.run();
    if (nightly.result()) throw redlock::system_error{nightly.result()};
} catch (std::exception const& e) {
    std::cerr << "callbacks: " << e.what() << '\n';
    return 1;
}
