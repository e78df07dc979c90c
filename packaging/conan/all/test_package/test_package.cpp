// SPDX-License-Identifier: BSL-1.0
// Links the library and uses it without a server.
#include <redlock/redlock.hpp>

#include <boost/asio/io_context.hpp>

#include <iostream>

int main()
{
    boost::asio::io_context io;
    redlock::client client{io.get_executor(), redlock::config::from_urls({"redis://127.0.0.1"})};
    std::cout << "redlock " << redlock::version() << '\n';
}
