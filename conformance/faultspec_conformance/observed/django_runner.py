"""A test runner of Django that judges what tests get from their service:

    TEST_RUNNER = "faultspec_conformance.observed.django_runner.JudgingRunner"
    FAULTSPEC = {"taxonomy": "taxonomy.yaml"}

Without ``taxonomy`` that of ``faultspec.yaml`` judges, else ``taxonomy.yaml``, and without both
what every service owes. ``FAULTSPEC`` may have ``openapi``, ``waivers`` and ``hosts`` as well: the
service's document, its known failures, and the hosts beside this machine that are the service.
Paths are relative to the folder of the command.
"""

import threading
import unittest
from pathlib import Path
from typing import Any

# Django has no types.
from django.conf import settings  # type: ignore[import-untyped]
from django.core.exceptions import ImproperlyConfigured  # type: ignore[import-untyped]
from django.test.runner import DiscoverRunner  # type: ignore[import-untyped]

from faultspec.exchange.model import Exchange
from faultspec_conformance.observed.clients import ObservedClients
from faultspec_conformance.observed.judging import (
    ObservationFiles,
    UnusableFile,
    conclude_observed,
    create_accumulator,
    describe_result,
    find_project_taxonomy,
    find_warnings,
    print_findings,
)
from faultspec_conformance.results.model import ReportedFinding

_AFTER = "answers after the last test"


class JudgingRunner(DiscoverRunner):  # type: ignore[misc]
    """Django's runner. A test fails if an answer that it got breaks the contract. Answers after the
    last test, such as those of ``tearDownClass``, fail by themselves.

    Tests run in one process, since findings of other processes would be lost.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **{**named, "parallel": 1})
        self._findings: list[ReportedFinding] = []
        files = {name: value for name, value in _options().items() if name != "hosts"}
        try:
            files.setdefault("taxonomy", find_project_taxonomy(Path.cwd()))
            self._owed = files["taxonomy"] is None
            self._accumulator = create_accumulator(ObservationFiles(**files))
        except UnusableFile as error:
            raise ImproperlyConfigured(str(error)) from None

    def run_suite(self, suite: Any, **named: Any) -> Any:
        """Run the tests with all clients observed."""
        accumulator = self._accumulator

        lock = threading.Lock()  # tests may have threads

        def see(exchange: Exchange) -> None:
            with lock:
                found = accumulator.add(exchange)
            self._findings += (
                finding for finding in found if finding.waived is None and finding.level == "error"
            )

        clients = ObservedClients(see, _options().get("hosts", ()))
        clients.wrap()
        try:
            result = super().run_suite(suite, **named)
        finally:
            clients.unwrap()
        for note in clients.notes():
            self.log(note)
        found = conclude_observed(accumulator.result("the tests"), owed=self._owed)
        warnings = find_warnings(found)
        if warnings:
            self.log(f"warnings, which fail no test:\n{print_findings(warnings).rstrip()}")
        for line in (*found.failures, *found.not_run, *found.notes):
            self.log(line)
        self.log(describe_result(found))
        return result

    def get_resultclass(self) -> Any:
        """The result class of Django, which fails a test for what its answers broke."""
        findings = self._findings

        class JudgingResult(super().get_resultclass() or self.test_runner.resultclass):  # type: ignore[misc]
            def stopTest(self, test: Any) -> None:  # noqa: N802  # the name of unittest
                self._fail_for_findings(test)
                super().stopTest(test)

            def stopTestRun(self) -> None:  # noqa: N802  # the name of unittest
                no_test = unittest.FunctionTestCase(lambda: None, description=_AFTER)
                self._fail_for_findings(no_test)
                super().stopTestRun()

            def _fail_for_findings(self, test: Any) -> None:
                if findings:
                    failure = AssertionError(print_findings(findings))
                    self.addFailure(test, (AssertionError, failure, None))
                    findings.clear()

        return JudgingResult


def _options() -> dict[str, Any]:
    options = getattr(settings, "FAULTSPEC", {})
    if not isinstance(options, dict):
        raise ImproperlyConfigured('FAULTSPEC is a dict, such as {"taxonomy": PATH}')
    unknown = options.keys() - {"hosts", *ObservationFiles._fields}
    if unknown:
        raise ImproperlyConfigured(f"FAULTSPEC has no option {', '.join(sorted(unknown))}")
    return options
