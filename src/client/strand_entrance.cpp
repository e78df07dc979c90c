#include "client/strand_entrance.hpp"

#include <boost/asio/execution.hpp>
#include <boost/asio/require.hpp>

namespace redlock::detail {

strand_entrance::strand_entrance(asio::any_io_executor outer, strand_type strand, run_here_function run_here, asio::io_context* single)
    : outer_{std::move(outer)},
      strand_{std::move(strand)},
      posting_{asio::require(*strand_, asio::execution::blocking.never)},
      run_here_{std::move(run_here)},
      single_{single}
{
}

void strand_entrance::send_for_mail()
{
    posting_->execute([self = shared_from_this()] {
        self->mail_.open(self->env_.now, [raw = self.get()] { raw->send_for_mail(); });
        if (self->env_.to_nodes) self->env_.to_nodes->flush();  // no other request will come in this turn
    });
}

void strand_entrance::leave_context() noexcept
{
    run_here_ = nullptr;
    posting_.reset();
    strand_.reset();
    outer_ = {};
}

}  // namespace redlock::detail
