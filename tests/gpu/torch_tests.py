#!/usr/bin/env python3
"""Runs tests of one of PyTorch's own test files and prints how each ended, a line each, as soon as it has.

    torch_tests.py FILE REGEX

FILE is a file of the folder test/ of PyTorch's sources, of the version that is installed; REGEX chooses
tests by their names.  A line has the outcome (passed, skipped, failed, expected) and the test's name.  What a
test that failed said goes to stderr.  Without PyTorch, a GPU or what the file imports it says so in one line
and ends well.
"""

import importlib.util
import pathlib
import re
import sys
import types
import unittest


class Outcomes(unittest.TestResult):
    """As unittest has it, but told at once: the process may end in the middle."""

    def tell(self, outcome, test):
        print(f"{outcome} {test.id()}", flush=True)

    def tell_failure(self, test, error):
        self.tell("failed", test)
        print(f"{test.id()}:\n{self._exc_info_to_string(error, test)}", file=sys.stderr, flush=True)

    def addSuccess(self, test):
        super().addSuccess(test)
        self.tell("passed", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.tell("skipped", test)

    def addExpectedFailure(self, test, error):
        super().addExpectedFailure(test, error)
        self.tell("expected", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.tell("failed", test)

    def addError(self, test, error):
        super().addError(test, error)
        self.tell_failure(test, error)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.tell_failure(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error:
            self.tell_failure(subtest, error)


def stand_in_for_expecttest():
    """PyTorch's test cases derive from a class of this package, which its wheel does not bring; its
    comparisons with text in the source are used by no test of streams, events or graphs."""
    if "expecttest" in sys.modules or importlib.util.find_spec("expecttest"):
        return
    module = types.ModuleType("expecttest")
    module.TestCase = unittest.TestCase
    module.ACCEPT = False
    sys.modules["expecttest"] = module


def load(path):
    stand_in_for_expecttest()
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module  # by which its classes are found again
    spec.loader.exec_module(module)
    return module


def tests_in(module, regex):
    """Not by load_tests of the module, which takes only those of the program that runs."""
    for case in vars(module).values():
        is_case = isinstance(case, type) and issubclass(case, unittest.TestCase)
        if not is_case or case.__module__ != module.__name__:
            continue
        for name in unittest.defaultTestLoader.getTestCaseNames(case):
            if re.search(regex, name, re.IGNORECASE):
                yield case(name)


def main(path, regex):
    try:
        import torch
    except ImportError:
        print("skipped: PyTorch is not installed")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    sys.argv = sys.argv[:1]  # PyTorch's tests read it
    try:
        module = load(pathlib.Path(path))
    except ImportError as error:
        print(f"skipped: {path} cannot be imported: {error}")
        return 0
    print(f"PyTorch {torch.__version__}, {path}", flush=True)
    chosen = sorted(tests_in(module, regex), key=lambda test: test.id())
    unittest.TestSuite(chosen).run(Outcomes())
    print(f"all {len(chosen)} tests have ended", flush=True)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
