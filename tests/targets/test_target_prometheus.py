"""The alert rules as Prometheus reads them: promtool checks them, and runs them over series."""

import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from faultspec.language import read
from faultspec.language.model import Taxonomy
from faultspec.render import render
from faultspec.targets import SHIPPED
from paths import ROOT
from targets.test_targets_laws import FLAGSHIP, taxonomy

WATCHED = ROOT / "tests/taxonomies/watched.yaml"

needs_promtool = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool (Debian: prometheus) is missing"
)


def compiled(known: Taxonomy) -> Mapping[str, str]:
    """The files of the target for a taxonomy."""
    return render(known, [SHIPPED["prometheus"]], "taxonomy.yaml")


def rules(known: Taxonomy) -> dict[str, Any]:
    """The rules by name."""
    groups = yaml.safe_load(compiled(known)["prometheus/alerts.yaml"])["groups"]
    return {rule["alert"]: rule for group in groups for rule in group["rules"]}


def promtool(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """The tool's answer."""
    return subprocess.run(
        ["promtool", *command], cwd=folder, capture_output=True, text=True, check=False
    )


@needs_promtool
@pytest.mark.parametrize("path", [FLAGSHIP, WATCHED], ids=lambda path: path.stem)
def test_promtool_accepts_the_rules(path: Path, tmp_path: Path) -> None:
    """Every rule is well formed, its expression, its labels and its templates."""
    (tmp_path / "alerts.yaml").write_text(compiled(taxonomy(path))["prometheus/alerts.yaml"])
    done = promtool(tmp_path, "check", "rules", "--lint=all", "--lint-fatal", "alerts.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


#: Series a minute apart, and the alerts that fire on them in the end.
CASES: Mapping[str, tuple[Path, dict[str, str], tuple[str, ...]]] = {
    "two in a hundred fail": (
        FLAGSHIP,
        {
            'error_by_code_total{code="internal_error", http_status="500", endpoint="/a"}': "0+2x90",
            'http_requests_total{endpoint="/a"}': "0+100x90",
        },
        ("platform-5xx",),
    ),
    "one in two hundred fails": (
        FLAGSHIP,
        {
            'error_by_code_total{code="internal_error", http_status="500", endpoint="/a"}': "0+1x90",
            'http_requests_total{endpoint="/a"}': "0+200x90",
        },
        (),
    ),
    "callers make all the mistakes": (
        FLAGSHIP,
        {
            'error_by_code_total{code="not_found", http_status="404", endpoint="/a"}': "0+50x90",
            'http_requests_total{endpoint="/a"}': "0+100x90",
        },
        (),
    ),
    "four times as many are throttled": (
        FLAGSHIP,
        {
            'error_by_code_total{code="rate_limited", http_status="429", endpoint="/a"}': "0+10x80 840+40x9"
        },
        ("rate-limit-spike",),
    ),
    "as many are throttled as ever": (
        FLAGSHIP,
        {'error_by_code_total{code="rate_limited", http_status="429", endpoint="/a"}': "0+40x90"},
        (),
    ),
    "three after a quiet hour": (
        FLAGSHIP,
        {
            'error_by_code_total{code="serialization_failure", http_status="503", endpoint="/a"}': "0x87 1 2 3"
        },
        (),
    ),
    "another code rises": (
        FLAGSHIP,
        {'error_by_code_total{code="timeout", http_status="504", endpoint="/a"}': "0x80 100+100x9"},
        (),
    ),
    "it lasts": (
        WATCHED,
        {
            'app_errors_total{error_code="broken", http_status="500"}': "0+9x90",
            "app_seconds_count": "0+90x90",
        },
        ("many-5xx",),
    ),
    "it has only begun": (
        WATCHED,
        {
            'app_errors_total{error_code="broken", http_status="500"}': "0x88 500 1000",
            "app_seconds_count": "0+90x90",
        },
        (),
    ),
}


@needs_promtool
@pytest.mark.parametrize("name", CASES)
def test_an_alert_fires_when_it_should(name: str, tmp_path: Path) -> None:
    """Over generated series those alerts fire that the sentence in `when` is about, and no
    other.
    """
    path, series, firing = CASES[name]
    known = rules(taxonomy(path))
    (tmp_path / "alerts.yaml").write_text(compiled(taxonomy(path))["prometheus/alerts.yaml"])
    test = {
        "rule_files": ["alerts.yaml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": each, "values": values} for each, values in series.items()
                ],
                "alert_rule_test": [
                    {
                        "eval_time": "90m",
                        "alertname": each,
                        "exp_alerts": [
                            {
                                "exp_labels": rule["labels"],
                                "exp_annotations": {
                                    key: text.replace('{{ "{{" }}', "{{")
                                    for key, text in rule["annotations"].items()
                                },
                            }
                        ]
                        if each in firing
                        else [],
                    }
                    for each, rule in known.items()
                ],
            }
        ],
    }
    (tmp_path / "test.yaml").write_text(yaml.safe_dump(test))
    done = promtool(tmp_path, "test", "rules", "test.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_braces_in_a_text_are_shown(tmp_path: Path) -> None:
    """Labels and annotations are templates of Go, and a text of the taxonomy comes out of them as
    it is.
    """
    braces, known = "{{ nope }} {{ $value }}", taxonomy(WATCHED)
    telemetry = known.telemetry
    assert telemetry is not None
    alerts = {
        name: alert._replace(severity=braces, when=f"{braces} {alert.when}")
        for name, alert in telemetry.alerts.items()
    }
    codes = {
        name: code._replace(support=code.support._replace(owner=braces))
        for name, code in known.codes.items()
    }
    changed = known._replace(codes=codes, telemetry=telemetry._replace(alerts=alerts))
    (tmp_path / "alerts.yaml").write_text(compiled(changed)["prometheus/alerts.yaml"])
    done = promtool(tmp_path, "check", "rules", "alerts.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = {
        value.replace('{{ "{{" }}', "{{")
        for rule in rules(changed).values()
        for value in rule["labels"].values()
    }
    assert braces in shown
    assert not any(
        value == braces for rule in rules(changed).values() for value in rule["labels"].values()
    )


def test_each_alert_leads_to_its_runbook() -> None:
    """A stub is there for every alert, with its steps, and the alert's link ends in the stub's
    name.
    """
    for path in (FLAGSHIP, WATCHED):
        tree = compiled(taxonomy(path))
        telemetry = taxonomy(path).telemetry
        assert telemetry is not None
        assert {f"prometheus/runbooks/{name}.md" for name in telemetry.alerts} == set(tree) - {
            "prometheus/alerts.yaml"
        }
        for name, rule in rules(taxonomy(path)).items():
            where = rule["annotations"]["runbook_url"]
            assert where == f"{telemetry.runbooks or 'runbooks/'}{name}.md"
            steps = re.findall(r"^\d+\. ", tree[f"prometheus/runbooks/{name}.md"], re.M)
            assert len(steps) == len(telemetry.alerts[name].runbook)


ENOUGH = """\
faultspec: 1
taxonomy: {name: shop, version: 1.0.0}
envelopes: {error: {shape: {code: $code, message: $message}}}
codes: {failed: {summary: It failed., http: 500, retriable: false, wire: 'f.1"'}}
telemetry:
  metrics:
    errors: {kind: counter, labels: [code, status], counts: errors, summary: Errors.}
    requests: {kind: counter, counts: requests, summary: Requests.}
  alerts:
    one: {severity: P1, when: It fails., codes: [failed], statuses: [500, 502-503], threshold: 0.1, window: 90s, runbook: [Look.]}
  means: {code: $code, status: $status}
"""

#: What is taken out of it, and what the stub then says is missing.
LACKING = {
    ", window: 90s": "over which `window:` it looks",
    ", codes: [failed], statuses: [500, 502-503]": "which `codes:` or `statuses:` it counts",
    "code: $code, status": "a label that `means:` $code and one that means $status",
    "    requests: {kind: counter, counts: requests, summary: Requests.}\n": "which metric `counts: requests`",
    ", threshold: 0.1": "above which `threshold:`, or on which `rise:`, it fires",
}


def shop(text: str) -> Taxonomy:
    """The taxonomy of a text."""
    found = read(text, "taxonomy.yaml")
    assert found.taxonomy is not None, found.diagnostics
    return found.taxonomy


def test_what_is_counted_is_what_is_declared() -> None:
    """The wire form of the code and each single status are selected, quoted for a regular
    expression inside a string.
    """
    expression = rules(shop(ENOUGH))["one"]["expr"]
    assert 'errors_total{code=~"f\\\\.1\\"", status=~"500|502|503"}[1m30s]' in expression.replace(
        "90s", "1m30s"
    )
    assert expression.endswith("> 0.1")


@pytest.mark.parametrize("gone", LACKING)
def test_nothing_is_guessed(gone: str) -> None:
    """An alert of which the taxonomy says too little has no rule, and its stub says what is
    missing.
    """
    replaced = "status" if gone.startswith("code: ") else ""
    assert ENOUGH.count(gone) == 1
    tree = compiled(shop(ENOUGH.replace(gone, replaced)))
    assert list(tree) == ["prometheus/runbooks/one.md"]
    assert LACKING[gone] in tree["prometheus/runbooks/one.md"].replace("\\", "")
