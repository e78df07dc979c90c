#!/usr/bin/env python3
"""That benchmarks/instructions.py fails where it has to."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from instructions import KEYS  # noqa: E402

WHO = 'callgrind, g++ 12.2.0, Boost 1.88, Release'
KEY = 'fenced_instructions_per_pair_n3_c256'


class Comparison(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.allowed = Path(self.folder.name) / 'allowed.json'
        self.allow({key: 1000 for key in KEYS})

    def allow(self, values, who=WHO):
        self.allowed.write_text(json.dumps({who: values}), encoding='utf-8')

    def hold(self, measured, *options):
        file = Path(self.folder.name) / 'measured.json'
        file.write_text(measured if isinstance(measured, str) else json.dumps(measured), encoding='utf-8')
        done = subprocess.run([sys.executable, HERE / 'instructions.py', file, self.allowed, *options], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    @staticmethod
    def report(**values):
        summary = {key: 1000 for key in KEYS} | values
        return {'compiler': 'g++ 12.2.0', 'build_type': 'Release',
                'figures': {'counted_by': 'callgrind', 'boost': '1_88', 'summary': {key: n for key, n in summary.items() if n is not None}}}

    def test_the_same_passes(self):
        status, out, err = self.hold(self.report())
        self.assertEqual((status, err), (0, ''))
        self.assertIn(KEY, out)
        self.assertNotIn('renew', out)

    def test_up_to_five_percent_more_passes(self):
        self.assertEqual(self.hold(self.report(**{KEY: 1049}))[0], 0)

    def test_more_fails_and_says_what_to_do(self):
        status, _, err = self.hold(self.report(**{KEY: 1051}))
        self.assertEqual(status, 1)
        for word in (KEY, '1,051 was counted', '1,050 is allowed', 'the 1,000 of benchmarks/instructions.json and 50 more', 'make instructions RENEW=1'):
            self.assertIn(word, err)
        self.assertEqual(err.count('was counted'), 1)

    def test_any_key_can_fail(self):
        for key in KEYS:
            status, _, err = self.hold(self.report(**{key: 1100}))
            self.assertEqual(status, 1, key)
            self.assertIn(key, err)

    def test_fewer_asks_to_renew(self):
        status, out, _ = self.hold(self.report(**{KEY: 949}))
        self.assertEqual(status, 0)
        self.assertIn(f'renew the file: {KEY}: 949 was counted', out)
        self.assertNotIn('renew', self.hold(self.report(**{KEY: 951}))[1])

    def test_what_was_not_measured_fails(self):
        for value in (None, 0, -1, float('nan'), float('inf'), 'many'):
            status, _, err = self.hold(self.report(**{KEY: value}))
            self.assertEqual(status, 1, value)
            self.assertIn(f'{KEY} was not measured', err)

    def test_no_allocations_can_be_measured_and_held(self):
        key = 'fenced_allocations_per_pair_n3_c256'
        self.allow({other: 1000 for other in KEYS} | {key: 0.001})
        self.assertEqual(self.hold(self.report(**{key: 0}))[0], 0)
        self.assertEqual(self.hold(self.report(**{key: 0.02}))[0], 0)
        status, _, err = self.hold(self.report(**{key: 0.03}))
        self.assertEqual(status, 1)
        self.assertIn('0.021 is allowed: the 0.001 of benchmarks/instructions.json and 0.02 more', err)

    def test_an_empty_measurement_fails(self):
        for measured in ('', '{}', '[]', '{"figures": {}}'):
            status, _, err = self.hold(measured)
            self.assertEqual(status, 1, measured)
            self.assertIn('nothing was measured', err)

    def test_no_measurement_fails(self):
        done = subprocess.run([sys.executable, HERE / 'instructions.py', self.folder.name + '/none', self.allowed], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn('nothing was measured', done.stderr)

    def test_a_key_that_nothing_is_allowed_for_fails(self):
        self.allow({key: 1000 for key in KEYS if key != KEY})
        status, _, err = self.hold(self.report())
        self.assertEqual(status, 1)
        self.assertIn(KEY, err)
        self.assertIn('nothing says what is allowed', err)

    def test_figures_of_others_are_not_compared(self):
        for who in ('perf_event_open, g++ 12.2.0, Boost 1.88, Release', 'callgrind, g++ 13.1.0, Boost 1.88, Release'):
            self.allow({key: 1000 for key in KEYS}, who)
            status, _, err = self.hold(self.report())
            self.assertEqual(status, 1)
            self.assertIn(f'nothing is allowed for "{WHO}", only for {who}', err)

    def test_renewed_figures_pass_and_others_stay(self):
        other = 'perf_event_open, g++ 12.2.0, Boost 1.88, Release'
        self.allow({key: 5 for key in KEYS}, other)
        measured = self.report(**{KEY: 12345.6, 'fenced_allocations_per_pair_n3_c256': 0.0123456})
        self.assertEqual(self.hold(measured, '--renew')[0], 0)
        kept = json.loads(self.allowed.read_text(encoding='utf-8'))
        self.assertEqual(set(kept), {WHO, other})
        self.assertEqual(kept[other], {key: 5 for key in KEYS})
        self.assertEqual(kept[WHO][KEY], 12346)
        self.assertEqual(self.hold(measured)[0], 0)
        self.assertEqual(self.hold(self.report(**{KEY: 13000}))[0], 1)

    def test_nothing_is_renewed_from_an_empty_measurement(self):
        before = self.allowed.read_text(encoding='utf-8')
        self.assertEqual(self.hold('{}', '--renew')[0], 1)
        self.assertEqual(self.allowed.read_text(encoding='utf-8'), before)


class Repository(unittest.TestCase):
    def test_the_file_allows_something_for_all_keys(self):
        allowed = json.loads((HERE / 'instructions.json').read_text(encoding='utf-8'))
        self.assertTrue(allowed)
        for who, values in allowed.items():
            self.assertEqual(set(values), set(KEYS), who)
            for key, value in values.items():
                self.assertGreaterEqual(value, 0, f'{who}: {key}')


if __name__ == '__main__':
    unittest.main()
