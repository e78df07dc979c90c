#include "node/redis_node_impl.hpp"

#include <redlock/clock.hpp>

#include <cassert>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

using boost::redis::resp3::node_view;

namespace {

connection_settings while_waiting(connection_settings settings, durability const& wanted)
{
    settings.stall_timeout += durability_waits::longest * wanted.timeout;  // for so long it may be silent with good reason
    return settings;
}

}  // namespace

redis_node::impl::impl(asio::any_io_executor strand, node_address const& address, config const& settings, std::uint16_t shards,
                       std::shared_ptr<tls_files> files)
    : strand_{std::move(strand)},
      name_{address.to_string()},
      wanted_durability_{address.replicas, address.fsync, settings.replication_timeout},
      binding_{address.replicas, shards},
      settings_{address, settings, std::move(files)},
      second_settings_{while_waiting(settings_, wanted_durability_)},
      handshake_{address, shards > 0},
      second_handshake_{address, wanted_durability_, shards > 0},
      login_{std::make_shared<node_login>(strand_, address, settings)},
      timer_{strand_},
      pause_{settings},
      identity_{settings.identity},
      trusts_identity_{settings.trust_server_identity},
      in_cluster_{shards > 0}
{
}

void redis_node::impl::connect()
{
    state_ = state::connecting;
    open_ = 0;
    refused_with_ = {};
    refused_words_.clear();
    changes_.reset();
    if (login_->asks()) log_in_and_open();
    else open();
}

void redis_node::impl::log_in_and_open()
{
    login_->obtain([weak = weak_from_this()](std::string const& why_not, credentials const& got) {
        auto const self = weak.lock();
        if (!self || self->stopping_) return;
        if (!why_not.empty()) {
            if (auto const listener = self->listener_.lock()) listener->on_down(self->index_, errc::credentials_unavailable, why_not);
            return self->pause();
        }
        for (auto* settings : {&self->settings_, &self->second_settings_}) {
            settings->address.username = got.username;
            settings->address.password = got.password;
        }
        self->open();
    });
}

void redis_node::impl::open()
{
    main_ = std::make_shared<redis_connection>(strand_, settings_, handshake_);
    if (wanted_durability_.wanted()) {
        second_ = std::make_shared<redis_connection>(strand_, second_settings_, second_handshake_);
        durability_waits_ = std::make_shared<durability_waits>(second_, wanted_durability_);
        second_->open(shared_from_this());
    }
    main_->open(shared_from_this());
}

void redis_node::impl::close_both()
{
    if (main_) main_->close();
    if (second_) second_->close();
}

void redis_node::impl::on_open(redis_connection&)
{
    if (++open_ < (second_ ? 2u : 1u) || stopping_ || state_ != state::connecting) return;
    auto& server = main_->server();
    if (second_ && server.run_id() != second_->server().run_id()) {
        refused_with_ = errc::node_unsuitable;
        refused_words_ = "two connections to this address led to two servers; use an address that belongs to one";
        return close_both();
    }
    state_ = state::usable;
    pause_.usable_now();
    login_->keep(second_ ? std::vector{main_, second_} : std::vector{main_}, [weak = weak_from_this()](std::string const& why_not) {
        auto const self = weak.lock();
        if (auto const listener = self ? self->listener_.lock() : nullptr) listener->on_login(self->index_, why_not);
    });
    auto facts = server.take_facts();
    suspicion_ = server.doubt(trusts_identity_);
    suspicion_.apply(facts);
    binding_.apply(facts);
    if (server.may_ask_info()) watch_suitability();
    address_.met(server.run_id(), server.running_for(), boot_clock::now());
    auto const listener = listener_.lock();
    if (!listener) return;
    if (!address_.words().empty()) listener->on_several_servers(index_, address_.words());
    listener->on_up(index_, server.run_id(), facts);
}

void redis_node::impl::watch_suitability()
{
    auto object = [weak = weak_from_this()](std::string const& words) {
        if (auto const self = weak.lock()) self->is_unfit(words);
    };
    auto tell_time = [weak = weak_from_this()](quorum::wall_time clock, quorum::time_point sent, quorum::time_point received) {
        if (auto const self = weak.lock(); self && self->main_) self->on_time(*self->main_, clock, sent, received);
    };
    suitability_ = std::make_shared<suitability_watch>(strand_, main_, wanted_durability_.replicas,
                                                       suitability_watch::listener{std::move(object), std::move(tell_time)});
    suitability_->start();
}

void redis_node::impl::check_address()
{
    if (state_ != state::usable || address_check_) return;
    address_check_ = std::make_shared<address_check>(strand_, settings_, handshake_);
    address_check_->start([weak = weak_from_this(), open = main_->server().run_id()](std::string const& run_id) {
        auto const self = weak.lock();
        if (!self) return;
        self->address_check_.reset();
        if (!run_id.empty() && run_id != open) self->is_unfit("new connections to this address lead to another server");
    });
}

// It may have keys of the owner, who can release them until the connection ends: later ones end like this one, or lead elsewhere.
void redis_node::impl::is_unfit(std::string const& words)
{
    if (state_ != state::usable) return;
    bool const takes_releases = words != why_not_a_replica();
    auto const listener = listener_.lock();
    if (takes_releases && listener && listener->on_unfit(index_, errc::node_unsuitable, words)) return;
    reject(errc::node_unsuitable, words);
}

void redis_node::impl::on_closed(redis_connection& from, error_code why, std::string const& words)
{
    bool const first = state_ != state::closing;
    bool const was_usable = state_ == state::usable;
    state_ = state::closing;
    login_->stop();
    if (suitability_) std::exchange(suitability_, nullptr)->stop();
    if (address_check_) std::exchange(address_check_, nullptr)->stop();
    (&from == main_.get() ? main_ : second_).reset();
    if (first) {
        close_both();
        bool const ours = static_cast<bool>(refused_with_);
        // A server that is rejected as soon as it is there, or does harm, is asked no more often than one that is refused.
        bool const rejected = ours || why == errc::not_a_redis_server;
        if (rejected) settings_.choice->failed();
        if (was_usable && (!rejected || pause_.was_used_long())) pause_.reset();
        if (auto const listener = listener_.lock()) listener->on_down(index_, ours ? refused_with_ : why, ours ? refused_words_ : words);
    }
    if (main_ || second_) return;
    if (stopping_) return stopped();
    pause();
}

void redis_node::impl::pause()
{
    state_ = state::pausing;
    after(pause_.next(), [](impl& me) { me.connect(); });
}

void redis_node::impl::on_push(redis_connection& from, node_view const& node)
{
    if (&from == main_.get()) changes_.on_push(node);
}

void redis_node::impl::on_pushed(redis_connection& from)
{
    if (&from == main_.get()) changes_.on_pushed();
}

void redis_node::impl::on_time(redis_connection&, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)
{
    address_.answered(sent);
    if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_time(index_, clock, sent, received);
}

void redis_node::impl::tell(std::string_view key)
{
    if (auto const listener = listener_.lock(); listener && state_ == state::usable) listener->on_changed(index_, key);
}

void redis_node::impl::stopped()
{
    if (state_ == state::stopped) return;
    state_ = state::stopped;
    if (auto const listener = listener_.lock()) listener->on_stopped(index_);
}

redis_node::redis_node(asio::any_io_executor strand, node_address address, config const& settings)
    : impl_{std::make_shared<impl>(std::move(strand), address, settings, std::uint16_t{0}, nullptr)}
{
}

redis_node::redis_node(asio::any_io_executor strand, node_address address, config const& settings, std::uint16_t shards,
                       std::shared_ptr<tls_files> files)
    : impl_{std::make_shared<impl>(std::move(strand), address, settings, shards, std::move(files))}
{
}

redis_node::~redis_node() = default;

std::string const& redis_node::name() const noexcept { return impl_->name(); }

void redis_node::start(std::size_t index, std::weak_ptr<node_listener> listener) { impl_->start(index, std::move(listener)); }

void redis_node::stop() { impl_->stop(); }

void redis_node::reject(error_code why, std::string words) { impl_->reject(why, std::move(words)); }

void redis_node::check_address() { impl_->check_address(); }

void redis_node::exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec({}, work, id, replies, std::move(handler));
}

void redis_node::ask(boost::redis::request const& what, node_sink& sink, std::size_t longer, exec_handler handler)
{
    impl_->ask(what, sink, longer, std::move(handler));
}

void redis_node::exec_in(std::string_view prefix, batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler)
{
    impl_->exec(prefix, work, id, replies, std::move(handler));
}

}  // namespace redlock::detail
