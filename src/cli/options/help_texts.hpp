// What stands below the options on the help pages of the redlock command.
#ifndef REDLOCK_CLI_OPTIONS_HELP_TEXTS_HPP
#define REDLOCK_CLI_OPTIONS_HELP_TEXTS_HPP

namespace redlock::cli {

inline constexpr char const* overview = R"(Examples:
  export REDLOCK_NODES=redis://10.0.0.1,redis://10.0.0.2,redis://10.0.0.3
  redlock run nightly-report --no-wait -- /usr/local/bin/report
  redlock inspect nightly-report
  redlock doctor

Durations are written like 250ms, 30s, 1m30s, 2h. redlock help COMMAND says
more, and redlock(1).)";

inline constexpr char const* run_examples = R"(Examples:
  redlock run nightly-report --no-wait -- /usr/local/bin/report
  redlock run deploy --wait 5m --label "$USER" -- make deploy
  0 3 * * *  redlock run backup --config /etc/redlock.json -n -- backup
      (a crontab on every host)
  redlock run backup -n --wait-servers 45s --conflict-exit-code 0 -- backup
      (another host does it: that is fine)
  redlock run job --events-fd 3 --on-lost INT -- work 3>>/var/log/job.jsonl
  redlock run exports --permits 4 -- export
      (four at once, on all hosts)
  redlock run --ticket "$ticket" -- work
      (of redlock acquire)
  redlock run leader --pass-lease 3 -- service
      (asks for the ticket on descriptor 3, and goes on with the lock itself)

The command finds REDLOCK_NAME, REDLOCK_TOKEN (the fencing token) and
REDLOCK_VALID_UNTIL (the lease's end at the start, in seconds since 1970) in its
environment; with --permits REDLOCK_SLOT, too: which permit it is. When the
lease is about to be lost, its process group gets SIGTERM, and SIGKILL before
somebody else can have the lock.

Under systemd (Type=notify), READY=1 is sent when the lock is held and the
command runs.

Exit code: the command's own, or 128 and the signal's number; 64 wrong usage, 69
too few nodes answered, 75 (or what --conflict-exit-code says) somebody else
holds the lock, 78 wrong configuration, 79 the lease was lost, 126 the command
cannot be executed, 127 it was not found.)";

inline constexpr char const* hold_examples = R"(Examples:
  redlock hold deploys                          (Ctrl-C or Ctrl-D releases it)
  redlock hold deploys --wait 1m </dev/null & ...; kill %1
  coproc redlock hold deploys; read -r held <&${COPROC[0]}

It prints one line when the lock is held. It releases the lock when its input
ends; where the input is /dev/null, only when a signal comes.

Exit code: 0 the input has ended; 128 and the signal's number; 64, 69, 75, 78
and 79 as with redlock run.)";

inline constexpr char const* lead_examples = R"(Examples:
  redlock lead primary-api --publish 10.0.0.7:8080 -- /usr/local/bin/api
      (on every host: it runs on one)

Each time this host leads, the command is started anew. When its lease is about
to be lost, its process group gets SIGTERM, and SIGKILL before another host can
lead; then this host campaigns again. It ends when the command ends by itself,
or with SIGTERM. The command's environment is that of redlock run.

Exit code: the command's own, or 128 and the signal's number; 64, 69, 78, 126
and 127 as with redlock run.)";

inline constexpr char const* leader_examples = R"(Examples:
  curl "http://$(redlock leader primary-api)/health"
  redlock leader primary-api --watch

Exit code: 0; 1 if nobody leads, 69 if too few nodes answered.)";

inline constexpr char const* acquire_examples = R"(Examples:
  ticket=$(redlock acquire nightly-report --ttl 30s --no-wait) || exit
  ...
  redlock release --ticket "$ticket"

The lock is held when this command has ended, for so long as the ttl says. A
process that has the ticket can extend the lock, run a command under it (redlock
run --ticket), and release it: keep it secret for as long as the lock is held.
Extending it prints the next ticket; after any use the old one is good for
nothing.

With fencing, the ttl must not be above max_ttl_ms of the configuration file (30
s without it).

Exit code: 0, and the ticket is on stdout; 69 too few nodes answered, 75 (or
what --conflict-exit-code says) somebody else holds the lock.)";

inline constexpr char const* extend_examples = R"(Examples:
  ticket=$(redlock extend --ticket "$ticket") || exit
  ticket=$(redlock extend --ticket - --ttl 30s <<< "$ticket")
      (other users of the machine do not see it)

Exit code: 0, and the next ticket is on stdout; 64 this is no ticket, 69 too few
nodes answered, 78 it is of other nodes, 79 the lock is not held by this ticket
any more.)";

inline constexpr char const* inspect_examples = R"(Examples:
  redlock inspect nightly-report
  redlock inspect orders:42 orders:43 --json

Exit code: 0, or 69 if too few nodes answered to know.)";

inline constexpr char const* semaphore_examples = R"(Examples:
  redlock semaphore exports
  redlock semaphore exports --permits 2
      (then change the commands and clients that say another number)
  redlock semaphore exports --json | jq .free_estimate

A change that was stopped, by whatever, is finished by the same command. From
the moment that a majority of the nodes knows the new number, those who say
another one are refused.

Exit code: 0; 1 there is no such semaphore, 69 too few nodes answered (to change
it, all have to), 75 somebody else has changed it, or slots above the number
were held for all the time of --wait.)";

inline constexpr char const* list_examples = R"(Examples:
  redlock list
  redlock list 'orders:*' --watch
  redlock list --json |
      jq -r '.locks[] | select(.holder.host == "web-3") | .name'

The slots of a semaphore are one row. The servers are searched by SCAN in small
steps. They do not know the waiters.

Exit code: 0, or 69 if too few nodes could be searched to know.)";

inline constexpr char const* release_examples = R"(Examples:
  redlock release --force nightly-report
  redlock release --force --yes nightly-report deploy --json
  redlock release --force --host web-3 --pattern 'orders:*'
  redlock release --ticket "$ticket"     (of redlock acquire)

Exit code: 0 something was deleted, 1 nothing was, 69 too few nodes answered.
With --ticket: 0, or as redlock extend.)";

inline constexpr char const* watch_examples = R"(Examples:
  redlock watch nightly-report deploy
  redlock watch deploy --interval 200ms --json | jq -c '[.state, .holder.host]'

Exit code: 0, also after Ctrl-C; 69 if too few nodes answered the last time.)";

inline constexpr char const* admit_examples = R"(Examples:
  redlock admit
      after the first start of the servers, and after each restart of one of
      them
  redlock admit --timeout 2m && restart-the-next-server

A server that lost its data has no vote on locks with fencing until old leases
are over (max_ttl, 30s) and others have told it what they know. Clients see to
that; this command does it where none is running at the moment.

Exit code: 0 every node may vote; 80 one may not, and the time is over or an
operator has to act.)";

inline constexpr char const* nodes_examples = R"(Examples:
  redlock nodes show
  redlock nodes show --config /etc/redlock.json --json
  redlock nodes replace redis://10.0.0.3 redis://10.0.0.9
      a new server takes the place of one that may be dead
  redlock nodes grow redis://10.0.0.4 redis://10.0.0.5        two more
  redlock nodes shrink redis://10.0.0.5                       one less

Servers that are used together are a set, and each has a record of it. A client
whose list of nodes is another one is refused: this command says why, for the
list that it is given.

replace and shrink need no pause: holders keep their leases, and clients with
the old list go on without the old server. With grow, acquisitions may stop
until the new server is admitted (max_ttl, 30s). All may be stopped at any time:
the same command goes on where it was. Stop holders of locks without fencing
before.

Exit code: 0; 69 too few nodes answered, 75 another change was faster, 78 a
client with this configuration would be refused, or the set cannot be changed
so, 80 the new member was not admitted within --wait.)";

inline constexpr char const* doctor_examples = R"(Examples:
  redlock doctor
  redlock doctor --config /etc/redlock.json --ttl 5s --json
  redlock doctor --name orders:42
      tries the permissions on this name, without touching the lock

Exit code: 0 healthy, 1 with warnings, 2 with dangers.)";

inline constexpr char const* bench_examples = R"(Examples:
  redlock bench
  redlock bench --callers 256 --time 10s --no-fencing

Exit code: 0, or 69 if no lock could be acquired.)";

inline constexpr char const* dashboard_examples = R"(Examples:
  redlock dashboard
      (and open http://127.0.0.1:8480/)
  redlock dashboard --pattern 'orders:*' --interval 250ms
  redlock dashboard --listen 0.0.0.0:8480 --token-file /etc/redlock/token

It changes nothing. What the page shows is at /api/status.json, too. Ctrl-C ends
it.)";

inline constexpr char const* completion_examples = R"(Examples:
  redlock completion bash > /etc/bash_completion.d/redlock
  redlock completion zsh > "${fpath[1]}/_redlock"
  redlock completion fish > ~/.config/fish/completions/redlock.fish)";

}  // namespace redlock::cli

#endif
