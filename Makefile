# A thin front door over the CMake presets. Each command sets up what it needs; a second call only rebuilds what changed.

.PHONY: help setup demo test asan tsan clean

help:
	@echo 'make demo   build and run the main job: five servers, three processes, faults (about 30 s)'
	@echo 'make test   build and run all tests'
	@echo 'make asan   unit, token and lifetime tests under AddressSanitizer and UndefinedBehaviorSanitizer'
	@echo 'make tsan   thread tests under ThreadSanitizer'
	@echo 'make clean  remove build/'

setup:
	@cmake/setup.sh

demo: setup
	@cmake --workflow --preset demo
	@build/release/examples/demo/redlock_demo

test: setup
	@cmake --workflow --preset debug

asan tsan: setup
	@cmake --workflow --preset $@

clean:
	rm -rf build
