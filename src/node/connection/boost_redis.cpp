// The compiled part of Boost.Redis, alone in its archive (see CMakeLists.txt).
#include <boost/redis/src.hpp>
