#include <boost/asio/impl/src.hpp>
#include <boost/asio/ssl/impl/src.hpp>
#include <boost/redis/src.hpp>

// So that an archive's member is needed by its own name.
char const* compiled_by() { return "the program"; }
