"""The facts of codes in generated code and documents: owners, languages, masks, stages, domains."""

import importlib
import json
import pickle
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from faultspec.language import load, read
from faultspec.language.model import Taxonomy
from faultspec.render import render, write
from faultspec.runtime.locales import find_locale
from faultspec.targets import SHIPPED
from paths import TESTS
from support.npm import installed
from targets.test_typescript import TOOLS, tsc

BANK = TESTS / "fixtures" / "bank.yaml"


def bank() -> Taxonomy:
    """The taxonomy of the bank."""
    taxonomy = load(str(BANK)).taxonomy
    assert taxonomy is not None
    return taxonomy


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that is generated of the bank."""
    folder = tmp_path_factory.mktemp("bank")
    write(render(bank(), list(SHIPPED.values()), "bank.yaml"), folder, list(SHIPPED))
    return folder


@pytest.fixture(scope="module")
def errors(folder: Path) -> Any:
    """The Python package of the bank."""
    sys.path.insert(0, str(folder / "python"))
    return importlib.import_module("bank_errors")


def test_a_code_has_the_defaults_of_its_domain() -> None:
    """A code has what its domain gives unless it says otherwise; a removed one has nothing."""
    codes = bank().codes
    assert codes["invalid"].boundaries == ("service",)
    assert codes["invalid"].retriable.fixed is False
    assert codes["limited"].retriable.fixed is True
    assert (codes["invalid"].support.fault, codes["declined"].support.fault) == (
        "caller",
        "dependency",
    )
    assert codes["declined"].support.owner == "payments"
    assert codes["refused"].support.owner is None


def test_a_wrong_default_is_reported_once_at_the_domain() -> None:
    """A default that names nothing is a mistake of the domain, not of each of its codes."""
    text = BANK.read_text().replace(
        "defaults: {boundary: service, retriable: false, fault: c",
        "defaults: {boundary: cellar, retriable: false, fault: c",
    )
    found = [each for each in read(text, "bank.yaml").diagnostics if each.severity == "error"]
    assert [(each.code, each.pointer) for each in found] == [
        ("dangling-reference", ("domains", "request", "defaults", "boundary"))
    ]


def test_python_has_the_facts_for_people(errors: Any) -> None:
    """Owner, runbook, documentation and fault side are facts and in the docstring; the owner is
    by default that of the taxonomy."""
    facts = errors.FACTS[errors.ErrorCode.DECLINED]
    assert (facts.owner, facts.fault) == ("payments", "dependency")
    assert facts.runbook == "https://runbooks.example.com/payments"
    assert errors.FACTS[errors.ErrorCode.LIMITED].docs == "https://docs.example.com/limited"
    assert facts._field_defaults["owner"] == "bank-platform"
    doc = " ".join(errors.Declined.__doc__.split())
    assert "Fault of a dependency; owner: payments" in doc
    assert "Beta: it may still change" in doc
    assert "See https://docs.example.com/limited" in errors.Limited.__doc__


def test_python_has_a_base_class_for_each_domain(errors: Any) -> None:
    """`except PaymentsError` catches the errors of the domain, and no others."""
    assert issubclass(errors.Declined, errors.PaymentsError)
    assert not issubclass(errors.Limited, errors.PaymentsError)
    assert issubclass(errors.PaymentsError, errors.BankError)
    with pytest.raises(TypeError, match="raise one of its subclasses"):
        errors.PaymentsError(details={})
    assert isinstance(errors.parse(b'{"code":"odd","message":"x"}'), errors.PaymentsError)


def test_python_keeps_sensitive_details_out_of_logs(errors: Any) -> None:
    """The caller gets them; `str`, `repr`, pickles' arguments and the details for logs do not."""
    error = errors.Declined(card="4111-42", customer={"name": "Ann", "iban": "DE02"})
    body = errors.render(error).body
    assert b"4111-42" in body
    assert b"DE02" in body
    logged = (str(error), repr(error), repr(error.logged_details), repr(error.args))
    again = pickle.loads(pickle.dumps(error))
    for text in (*logged, str(again), repr(again)):
        assert "4111-42" not in text
        assert "DE02" not in text
    assert error.logged_details == {"card": "***", "customer": {"name": "Ann", "iban": "***"}}
    own = errors.Declined("No luck with 4111-42", card="4111-42")
    assert str(own) == "declined: No luck with ***"
    assert own.message == "No luck with 4111-42"
    received = errors.parse(body, status=502)
    assert "4111-42" not in str(received)


@pytest.mark.parametrize(
    ("locale", "language", "message"),
    [
        ("de", "de", "Nicht mehr als 3 Zahlungen"),
        ("de-AT-1996", "de", "Nicht mehr als 3 Zahlungen"),
        ("PT-br", "pt-BR", "Não mais de 3 pagamentos"),
        ("pt", None, "No more than 3 payments"),
        ("fr", None, "No more than 3 payments"),
    ],
)
def test_python_renders_a_language_or_a_wider_one(
    errors: Any, locale: str, language: str | None, message: str
) -> None:
    """The message is that of the language, or of the nearest wider one, with its header; else the
    default one."""
    answer = errors.render(errors.Limited(limit=3), locale=locale)
    assert json.loads(answer.body)["message"] == message
    assert answer.headers.get("Content-Language") == language


def test_a_given_message_is_never_replaced(errors: Any) -> None:
    """A message in words of the service is not translated."""
    answer = errors.render(errors.Limited("Slow down", limit=3), locale="de")
    assert json.loads(answer.body)["message"] == "Slow down"
    assert "Content-Language" not in answer.headers


def test_a_removed_code_is_read_as_its_successor(errors: Any) -> None:
    """The wire value of a removed code parses as the error that replaces it."""
    error = errors.parse(b'{"code":"refused","message":"No","details":{"card":"x"}}', status=502)
    assert type(error) is errors.Declined
    assert (error.message, error.details) == ("No", {"card": "x"})


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("de", "de"), ("de-x-old", "de"), ("zh-Hant-TW", "zh-Hant"), ("z", None), ("", None)],
)
def test_the_nearest_language_is_looked_up(wanted: str, found: str | None) -> None:
    """Subtags are dropped from the end (RFC 4647 section 3.4)."""
    assert find_locale(wanted, ("de", "zh-Hant", "en-GB")) == found


def test_bindings_of_the_bank_are_typed_and_formatted(folder: Path) -> None:
    """mypy --strict and ruff accept the package."""
    package = folder / "python"
    for command in (
        ["mypy", "--strict", "--no-site-packages", "bank_errors"],
        ["ruff", "check", "bank_errors"],
        ["ruff", "format", "--check", "bank_errors"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=package, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_documents_have_the_facts_for_people(folder: Path) -> None:
    """OpenAPI, the registry of problem types and the reference page name them; sensitive details
    are marked."""
    openapi = json.loads((folder / "openapi" / "openapi-3.1.json").read_text())
    declined = openapi["components"]["schemas"]["Declined"]
    assert declined["x-owner"] == "payments"
    assert declined["x-runbook"] == "https://runbooks.example.com/payments"
    assert declined["x-fault"] == "dependency"
    assert declined["x-lifecycle"] == "beta"
    assert openapi["components"]["schemas"]["Limited"]["externalDocs"] == {
        "url": "https://docs.example.com/limited"
    }
    details = declined["properties"]["details"]["properties"]
    assert details["card"]["x-sensitive"] is True
    assert details["customer"]["properties"]["iban"]["x-sensitive"] is True
    registry = json.loads((folder / "problems" / "registry.json").read_text())
    row = next(each for each in registry["problems"] if each["code"] == "declined")
    assert (row["owner"], row["fault"]) == ("payments", "dependency")
    page = (folder / "markdown" / "reference.md").read_text()
    assert "* Owner: payments" in page
    assert "* Runbook: <https://runbooks.example.com/payments>" in page
    assert "* **Experimental**: it may change or go at any time" in page


def test_alerts_name_owner_and_runbook(folder: Path) -> None:
    """An alert goes to the owner of all its codes, and links their common runbook."""
    rules = yaml.safe_load((folder / "prometheus" / "alerts.yaml").read_text())
    (rule,) = rules["groups"][0]["rules"]
    assert rule["labels"]["owner"] == "payments"
    assert rule["annotations"]["runbook_url"] == "https://runbooks.example.com/payments"
    assert (
        "https://runbooks.example.com/payments"
        in (folder / "prometheus" / "runbooks" / "declines.md").read_text()
    )
    registry = yaml.safe_load((folder / "otel" / "registry.yaml").read_text())
    (code,) = (each for each in registry["groups"][0]["attributes"] if each["id"] == "code")
    stages = {each["id"]: each["stability"] for each in code["type"]["members"]}
    assert (stages["declined"], stages["odd"], stages["invalid"]) == (
        "beta",
        "development",
        "stable",
    )


PROGRAM = """
import { FACTS, hasDomain, localMessage, logged, parse } from "./bank-errors/index.js";
const declined = parse({ code: "refused", message: "The card 4111-42 was declined",
  details: { card: "4111-42", customer: { iban: "DE02" } } }, { status: 502 });
const limited = parse({ code: "limited", message: "No more than 3 payments", details: { limit: 3 } });
console.log(JSON.stringify({
  code: declined.code,
  payments: hasDomain(declined, "payments"),
  limited: hasDomain(limited, "payments"),
  logged: logged(declined),
  de: localMessage(limited, "de-AT"),
  fr: localMessage(limited, "fr"),
  facts: FACTS.declined,
}));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_typescript_says_the_same(folder: Path, tmp_path: Path) -> None:
    """TypeScript compiles under every strictness, is formatted, and agrees with Python."""
    for path in (folder / "typescript").rglob("*.ts"):
        target = tmp_path / path.relative_to(folder / "typescript")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(path.read_text())
    (tmp_path / "main.ts").write_text(
        "declare const console: { log(text: string): void };\n" + PROGRAM
    )
    done = tsc(tmp_path, "--module", "nodenext", "--outDir", "out", "main.ts")
    assert done.returncode == 0, done.stdout
    (tmp_path / "out" / "package.json").write_text('{"type": "module"}')
    ran = subprocess.run(
        ["node", "out/main.js"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    found = json.loads(ran.stdout)
    assert found["code"] == "declined"
    assert (found["payments"], found["limited"]) == (True, False)
    assert found["logged"] == {
        "code": "declined",
        "message": "The card *** was declined",
        "details": {"card": "***", "customer": {"iban": "***"}},
    }
    assert (found["de"], found["fr"]) == ("Nicht mehr als 3 Zahlungen", "No more than 3 payments")
    assert (found["facts"]["owner"], found["facts"]["fault"]) == ("payments", "dependency")
    text = (tmp_path / "bank-errors" / "errors.ts").read_text()
    assert re.search(r"@beta", text)
    assert "@see https://docs.example.com/limited" in text
    prettier = str(installed(TOOLS, ".bin/prettier") / ".bin" / "prettier")
    formatted = subprocess.run(
        [prettier, "--check", "bank-errors"], cwd=tmp_path, capture_output=True, text=True
    )
    assert formatted.returncode == 0, formatted.stdout + formatted.stderr
