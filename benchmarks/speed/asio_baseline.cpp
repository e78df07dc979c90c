// The second baseline: the same callers over Asio's sockets, as an Asio program would write them.
#include "baseline.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <boost/system/system_error.hpp>

#include <stdexcept>

namespace bench {

namespace {

using asio::ip::tcp;
using boost::system::error_code;

class asio_loop {
public:
    asio_loop(asio::io_context& io, workload const& what, meter& figures) : io_{io}, callers_{what, figures}, starting_{io}
    {
        if (what.rest > 0ns) throw std::logic_error{"the callers of the baseline over Asio do not rest"};
        for (std::uint16_t const port : what.at) {
            auto& n = nodes_.emplace_back(io);
            n.socket.connect({asio::ip::address_v4::loopback(), port});
            n.socket.set_option(tcp::no_delay{true});
        }
    }

    void start()
    {
        began_ = steady::now();
        for (std::size_t i = 0; i < nodes_.size(); ++i) read(i);
        start_callers();
    }

private:
    struct node {
        explicit node(asio::io_context& io) : socket{io}, in(256 * 1024) {}

        tcp::socket socket;
        std::vector<char> in;
        std::size_t kept{0};
        std::string sending;
        std::string waiting;
        bool busy{false};
    };

    static void check(error_code ec)
    {
        if (ec) throw boost::system::system_error{ec};
    }

    void start_callers()
    {
        bool const all = callers_.start(steady::now() - began_);
        flush();
        if (all) return;
        starting_.expires_after(50us);
        starting_.async_wait([this](error_code) { start_callers(); });
    }

    void read(std::size_t i)
    {
        node& n = nodes_[i];
        n.socket.async_read_some(asio::buffer(n.in.data() + n.kept, n.in.size() - n.kept), [this, i](error_code ec, std::size_t size) {
            check(ec);
            hear(i, size);
            read(i);
        });
    }

    void hear(std::size_t i, std::size_t size)
    {
        node& n = nodes_[i];
        std::size_t const filled = n.kept + size;
        std::size_t const used = callers_.hear(i, {n.in.data(), filled}, steady::now());
        n.kept = filled - used;
        std::copy_n(n.in.begin() + static_cast<std::ptrdiff_t>(used), n.kept, n.in.begin());
        if (!callers_.has_outgoing() || std::exchange(flush_posted_, true)) return;
        asio::post(io_, [this] {  // behind what is ready to be read now
            flush_posted_ = false;
            flush();
        });
    }

    void flush()
    {
        if (!callers_.has_outgoing()) return;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            nodes_[i].waiting.append(callers_.outgoing(i));
            if (!nodes_[i].busy) write(i);
        }
        callers_.sent();
    }

    void write(std::size_t i)
    {
        node& n = nodes_[i];
        n.busy = !n.waiting.empty();
        if (!n.busy) return;
        n.sending.swap(n.waiting);
        n.waiting.clear();
        asio::async_write(n.socket, asio::buffer(n.sending), [this, i](error_code ec, std::size_t) {
            check(ec);
            write(i);
        });
    }

    asio::io_context& io_;
    baseline_callers callers_;
    asio::steady_timer starting_;
    std::deque<node> nodes_;
    steady::time_point began_;
    bool flush_posted_{false};
};

}  // namespace

sample run_asio_baseline(workload const& what)
{
    asio::io_context io{1};
    meter figures;
    asio_loop loop{io, what, figures};
    loop.start();
    run_for(io, what.warm_up + what.callers * what.stagger);
    if (what.at_begin) what.at_begin();
    figures.begin();
    measure(io, what, figures);
    return figures.end();
}

}  // namespace bench
