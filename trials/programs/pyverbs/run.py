"""Runs rdma-core's test suite on a device and writes what came of each test.

Usage: run.py TESTS REPORT DEVICE ALSO [MODULE...]

TESTS is the suite's folder, REPORT the JSON file to write: {"id": {"outcome": "passed", "reason": ""}, ...}. The tests
of each MODULE are loaded but not run, except those whose names match the regular expression ALSO.
"""

import json
import re
import sys
import unittest
from importlib.machinery import SourceFileLoader


# What mlx5_soft0 says of itself: a part that no adapter has.
MLX5_SOFT_PART = 0x5f05


class Result(unittest.TextTestResult):
    """Prints as unittest does, and remembers."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.outcomes = {}

    def note(self, test, outcome, reason=''):
        # A failed subtest or clean-up is not undone by what comes after it.
        if self.outcomes.get(test.id(), {}).get('outcome') != 'failed':
            self.outcomes[test.id()] = {'outcome': outcome, 'reason': reason}

    def addSuccess(self, test):
        super().addSuccess(test)
        self.note(test, 'passed')

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.note(test, 'failed', str(err[1]))

    def addError(self, test, err):
        super().addError(test, err)
        self.note(test, 'failed', str(err[1]))

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.note(test, 'skipped', reason)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.note(test, 'failed', str(err[1]))

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.note(test, 'passed')

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.note(test, 'failed', 'unexpected success')


def without(suite, modules, also):
    """The tests of a suite that are not in one of the modules, or match an expression."""
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from without(item, modules, also)
        elif item.id().split('.')[1] not in modules or re.match(also, item.id()):
            yield item


def main(tests, report, device, also, *modules):
    sys.path.insert(0, tests)
    sys.argv = ['run.py', '--dev', device]
    # The suite's own names: tests.test_pd.PDTest.test_alloc_pd
    suite = SourceFileLoader('tests', f'{tests}/__init__.py').load_module()
    suite.parser.parse_args()
    # The tests of mlx5 run on the parts that this table has; the software model's is one more.
    sys.modules['tests.mlx5_base'].MLX5_DEVS.add(MLX5_SOFT_PART)
    found = unittest.defaultTestLoader.loadTestsFromModule(suite)
    chosen = unittest.TestSuite(without(found, modules, also))
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result, stream=sys.stdout).run(chosen)
    with open(report, 'w', encoding='utf-8') as file:
        json.dump(result.outcomes, file)


main(*sys.argv[1:])
