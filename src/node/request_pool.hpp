// The bytes that one node sends of a batch: those that another node has made, or a copy with this server's id in it.
#ifndef REDLOCK_NODE_REQUEST_POOL_HPP
#define REDLOCK_NODE_REQUEST_POOL_HPP

#include "protocol/redis_request.hpp"

#include <memory>
#include <string_view>
#include <vector>

namespace redlock::detail {

class request_pool {
public:
    struct bytes {
        redis_request const& shared;  // the calls, and the bytes unless there is a copy
        std::unique_ptr<redis_request> own;  // the copy, if one was needed; return it to the pool when it is answered
    };

    // Encodes the batch for the first node that asks for it. `id`: the server that votes with tokens are asked of.
    bytes bytes_of(batch const& work, std::string_view id, request_extras const& extras);

    // A later copy needs the memory.
    void give_back(std::unique_ptr<redis_request> copy);

private:
    std::unique_ptr<redis_request> take();

    std::vector<std::unique_ptr<redis_request>> spare_;
};

}  // namespace redlock::detail

#endif
