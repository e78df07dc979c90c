# A thin front door over the CMake presets. Each command sets up what it needs; a second call only rebuilds what changed.

.PHONY: help setup demo demo-failover check test asan tsan simulate mutants mutate compilers newest-boost fuzz model proof bench bench-waiting faults soak package docs format check-format instructions tidy clean

help:
	@echo 'make demo   build and run the main job: five servers, three processes, faults (about 30 s); DASHBOARD=1: and shows it to a browser'
	@echo 'make demo-failover  a primary is cut off with a holder, and a replica takes its place: a lock of ours beside SET NX PX (about 15 s)'
	@echo 'make check  before each commit: layout, unit tests, 2,000 simulated schedules, the pages'
	@echo 'make test   build and run all tests; SERVER=build/deps/newest-servers/bin/valkey-server: with this server'
	@echo 'make asan   unit, token, lifetime and simulation tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan   thread tests under ThreadSanitizer'
	@echo 'make simulate SEEDS=1000000              the real client in so many simulated worlds (default: 100000)'
	@echo 'make simulate BUDGET=60                  as many as go into so many seconds, 10,000 at least'
	@echo 'make simulate SEED=42 TRACE=trace.html   one of them, and a picture of it'
	@echo 'make mutants    break the library on purpose, in many ways: the simulation must catch each'
	@echo 'make mutate     mistakes made by rule in the code, and what the tests notice of them: SAMPLE=200 SEED=1 ONLY="src/node include"; NEAR=1: by unit tests and the simulation alone; GIVEN=FILE: those of a file; CHANGED=120: as many as go into so many seconds, in what was changed last'
	@echo 'make compilers  clang with the newest Boost and sanitizers: all that users build, unit and integration tests, and the same schedules as with gcc; QUICK=1: some of it'
	@echo 'make newest-boost  the same tests with gcc and the newest Boost'
	@echo 'make fuzz SECONDS=60    each fuzzer for so long; a finding fails, and its input is kept'
	@echo 'make model      model-check the token protocol; QUICK=1: all mutants, few of the large models; ALL=1: the largest, too'
	@echo 'make proof      prove it for any number of nodes, with z3, and replay schedules of the real client and scripts against the proof; CVC5=1: and ask cvc5 as well'
	@echo 'make bench      how fast locks are, over hand-written sockets: build/bench/summary.json and pictures (9 minutes; QUICK=1: one)'
	@echo 'make instructions   instructions, allocations and bytes, held against benchmarks/instructions.json (2 minutes; RENEW=1: written there)'
	@echo 'make bench-waiting   what waiting costs: figures and pictures in build/bench (about 10 minutes on an idle machine)'
	@echo 'make faults DURATION=120s    real servers and groups, and everything that goes wrong with them; SEED=1 SERVER="redis-server valkey-server"'
	@echo 'make soak SOAK=600s          the same under AddressSanitizer: nothing may grow'
	@echo 'make package    Debian packages of the library and the command: build/release/packages'
	@echo 'make docs       the site: pages, reference, search; fails where something is missing or a link is dead: build/docs/index.html'
	@echo 'make format     lay the code out with clang-format; make check-format fails where that was not done'
	@echo 'make tidy   clang-tidy over the library, the command and the examples; LIBRARY=1: without these'
	@echo 'make clean  remove build/'

setup:
	@cmake/setup.sh

demo: setup
	@cmake --workflow --preset demo
	@$(if $(DASHBOARD),cmake --build --preset demo --target redlock_cli)
	@build/release/examples/demo/redlock_demo $(if $(DASHBOARD),--dashboard build/release/src/cli/redlock)

demo-failover: setup
	@cmake --workflow --preset demo-failover
	@build/release/examples/failover/redlock_failover_demo

check: setup check-format
	@cmake/setup.sh python3
	@cmake --workflow --preset check

test: setup
	@cmake/setup.sh lld postgresql libpq-dev pkg-config python3 python3-redis valgrind
	@cmake/setup.sh valkey || echo 'test: no valkey-server, so that CTest skips the tests of WAITAOF'
	@cmake/setup.sh newest-servers || echo 'test: no newer servers than those of this Debian, so that CTest skips the tests with them'
	@tests/interop/setup.sh
	@tests/cli/setup.sh || echo 'test: no chromium, or no axe-core, so that CTest skips tests of the dashboard'
	@$(if $(filter command line,$(origin SERVER)),REDLOCK_TEST_SERVER='$(if $(findstring /,$(SERVER)),$(abspath $(SERVER)),$(SERVER))') cmake --workflow --preset debug

asan tsan: setup
	@cmake --workflow --preset $@

SEEDS ?= 100000
simulate: setup
	@cmake --workflow --preset simulate
	@build/debug/tests/simulation/simulate $(if $(SEED),--seed $(SEED) $(if $(TRACE),--trace $(TRACE)),$(if $(BUDGET),--seeds 1000000000 --seconds $(BUDGET) --at-least 10000,--seeds $(SEEDS)))

mutants: setup
	@cmake --workflow --preset mutants
	@tests/simulation/mutants/gate.sh build/debug/tests/simulation

SAMPLE ?= 200
mutate: setup
	@cmake/setup.sh python3-clang-19 libclang-common-19-dev
	@$(if $(CHANGED)$(NEAR),cmake --preset debug >build/debug.log && cmake --build --preset $(if $(NEAR),near,check),cmake --workflow --preset mutate)
	@/usr/bin/python3 tests/mutation/mutate.py $(if $(CHANGED),--changed $(CHANGED),--sample $(SAMPLE) --seed $(or $(SEED),1) $(if $(NEAR),--near) $(if $(GIVEN),--given $(GIVEN)) $(if $(ONLY),--only $(ONLY)))

compilers:
	@cmake/setup.sh clang-19 lld-19 libclang-rt-19-dev newest-boost postgresql libpq-dev
	@cmake --workflow --preset simulate
	@cmake --workflow --preset clang$(if $(QUICK),-quick)
	@tests/simulation/compare.sh build/debug/tests/simulation/simulate build/clang/tests/simulation/simulate 1000

newest-boost:
	@cmake/setup.sh newest-boost postgresql libpq-dev
	@cmake --workflow --preset $@

SECONDS ?= 60
fuzz: setup
	@cmake/setup.sh clang-19 lld-19 libclang-rt-19-dev newest-boost
	@cmake --workflow --preset fuzz
	@tests/fuzz/run.sh build/clang/tests/fuzz $(SECONDS)

model:
	@cmake/setup.sh spin gcc python3
	@python3 tests/model/run.py $(if $(QUICK),--quick) $(if $(ALL),--all)

# Debian's z3 belongs to Debian's python3. Then schedules of the real client, and of the scripts on real servers, step by step, against the
# same transitions.
TRACES ?= 10000
SCRIPT_TRACES ?= 1000
proof: setup
	@cmake/setup.sh python3-z3 $(if $(CVC5),cvc5)
	@/usr/bin/python3 tests/proof/run.py $(if $(CVC5),--second-opinion)
	@cmake --workflow --preset proof
	@mkdir -p build/proof
	@build/debug/tests/simulation/simulate --seeds $(TRACES) --no-counters --transitions build/proof/traces.txt
	@/usr/bin/python3 tests/proof/replay_test.py build/proof/traces.txt
	@/usr/bin/python3 tests/proof/replay.py --at-least $(TRACES) build/proof/traces.txt
	@rm build/proof/traces.txt
	@tests/proof/scripts.sh build/debug/tests/fencing/schedules build/proof $(SCRIPT_TRACES)

bench: setup
	@cmake/setup.sh gnuplot-nox python3 valgrind
	@tests/interop/setup.sh
	@cmake --workflow --preset bench
	@benchmarks/speed/run.sh build/release/benchmarks/speed build/bench $(if $(QUICK),--quick)

# BY=callgrind where perf_event_open is permitted, too.
instructions: setup
	@cmake/setup.sh python3 valgrind
	@cmake --workflow --preset instructions
	@mkdir -p build/bench
	@rm -f build/bench/instructions.json
	@build/release/benchmarks/speed instructions $(if $(BY),--by $(BY)) --simulate build/release/tests/simulation/simulate --output build/bench/instructions.json
	@python3 benchmarks/instructions.py build/bench/instructions.json benchmarks/instructions.json $(if $(RENEW),--renew)

bench-waiting: setup
	@cmake/setup.sh gnuplot-nox python3
	@tests/interop/setup.sh
	@cmake --workflow --preset bench-waiting
	@benchmarks/waiting/run.sh build/release/benchmarks/waiting build/bench

DURATION ?= 120s
SOAK ?= 600s
SERVER ?= redis-server
faults: setup
	@cmake/setup.sh iproute2 $(filter valkey,$(SERVER:-server=)) $(if $(findstring newest-servers/,$(SERVER)),newest-servers)
	@cmake --workflow --preset faults
	@PATH="$(CURDIR)/build/deps/valkey/usr/bin:$$PATH" tests/faults/run.sh build/debug/tests/faults/faults "$(SERVER)" --duration $(DURATION) $(if $(SEED),--seed $(SEED)) $(if $(SLACK),--slack $(SLACK))

soak: setup
	@cmake/setup.sh iproute2 $(filter valkey,$(SERVER:-server=)) $(if $(findstring newest-servers/,$(SERVER)),newest-servers)
	@cmake --workflow --preset soak
	@PATH="$(CURDIR)/build/deps/valkey/usr/bin:$$PATH" ASAN_OPTIONS=quarantine_size_mb=16 build/asan/tests/faults/faults run --server $(SERVER) --duration $(SOAK) $(if $(SEED),--seed $(SEED))

package: setup
	@cmake/setup.sh dpkg-dev file
	@rm -rf build/release/packages
	@cmake --workflow --preset package
	@tests/consumer/packages.sh build/release

docs:
	@cmake/setup.sh doxygen python3
	@python3 docs/site/build.py build/docs

sources = git ls-files -z '*.cpp' '*.hpp' | xargs -0 clang-format-19
format:
	@cmake/setup.sh clang-format-19
	@$(sources) -i

check-format:
	@cmake/setup.sh clang-format-19
	@$(sources) --dry-run --Werror

tidy:
	@cmake/setup.sh clang-19 clang-tidy-19 libpq-dev
	@cmake --preset tidy $(if $(LIBRARY),-DREDLOCK_BUILD_EXAMPLES=OFF) >build/tidy.log || { cat build/tidy.log; exit 1; }
	@cmake/tidy.sh build/tidy

clean:
	rm -rf build
