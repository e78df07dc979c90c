#include "shared_board.hpp"

#include "extremes.hpp"

#include <cerrno>
#include <new>
#include <system_error>

#include <sys/mman.h>

namespace demo {

void board::forget(std::size_t worker)
{
    for (auto& record : locks) {
        auto mark = static_cast<std::uint32_t>(worker + 1);
        if (record.holder.compare_exchange_strong(mark, 0)) record.inside.fetch_sub(1);
    }
}

shared_board::shared_board()
{
    void* const memory = ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::system_error{errno, std::generic_category(), "mmap of the shared board"};
    board_ = new (memory) board;
}

shared_board::~shared_board() { ::munmap(board_, sizeof(board)); }

visit::visit(board& shared, std::size_t worker, std::size_t lock, std::uint64_t token, redlock::boot_clock::time_point asked_at)
    : board_{shared},
      record_{shared.locks[lock]},
      worker_{static_cast<std::uint8_t>(worker)},
      lock_{static_cast<std::uint8_t>(lock)},
      token_{token},
      entered_at_{redlock::boot_clock::now()}
{
    bool const overlaps = record_.inside.fetch_add(1) != 0;
    record_.holder.store(worker_ + 1U);
    record_.sections.fetch_add(1);
    auto const waited = entered_at_ - asked_at;
    raise_to(record_.wait_max_ns, waited.count());
    tell(event_kind::acquired, waited);
    if (overlaps) {
        record_.overlaps.fetch_add(1);
        tell(event_kind::overlap);
    }
    if (!record_.resource.begin(token_)) {
        record_.stale_tokens.fetch_add(1);
        tell(event_kind::stale_token);
    }
}

void visit::leave(redlock::boot_clock::time_point valid_until)
{
    if (!record_.resource.write(token_)) {
        record_.refused.fetch_add(1);
        tell(event_kind::refused);
    }
    std::uint32_t own_mark = worker_ + 1U;
    record_.holder.compare_exchange_strong(own_mark, 0);
    record_.inside.fetch_sub(1);

    // The clock is read last: what is judged includes every step of the section.
    auto const now = redlock::boot_clock::now();
    held_ = now - entered_at_;
    margin_ = valid_until - now;
    raise_to(record_.held_max_ns, held_.count());
    if (held_ > ttl) record_.beyond_ttl.fetch_add(1);
    if (margin_.count() < 0) {
        record_.late.fetch_add(1);
        tell(event_kind::late, -margin_);
    }
}

void visit::was_cancelled()
{
    record_.cancelled.fetch_add(1);
    lower_to(record_.margin_min_ns, margin_.count());
    raise_to(record_.margin_max_ns, margin_.count());
    if (margin_.count() >= 0) tell(event_kind::cancelled, margin_);
}

void visit::was_released(bool confirmed) { tell(confirmed ? event_kind::released : event_kind::unconfirmed, held_); }

void visit::tell(event_kind kind, std::chrono::nanoseconds value) const
{
    auto const now = redlock::boot_clock::now().time_since_epoch().count();
    board_.events.push({.at_ns = now, .value_ns = value.count(), .kind = kind, .worker = worker_, .subject = lock_, .token = token_});
}

}  // namespace demo
