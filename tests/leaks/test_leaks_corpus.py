"""Leak detection on foreign texts: errors of packages, traces, vectors of a detector."""

import gzip
import importlib.util
import json
import re
from functools import cache
from importlib import metadata
from pathlib import Path
from random import Random
from typing import Any

import pytest

from faultspec.leaks import detect
from faultspec.leaks.detectors import DETECTORS, Pattern
from faultspec.leaks.tokens import TOKENS
from paths import TESTS

VECTORS = TESTS / "vectors"
HARMLESS: list[dict[str, str]] = [
    json.loads(line)
    for line in (VECTORS / "harmless.jsonl").read_text(encoding="utf-8").splitlines()
]
NEAR: list[dict[str, str]] = [
    json.loads(line) for line in (VECTORS / "near.jsonl").read_text(encoding="utf-8").splitlines()
]
TRACES: list[dict[str, str]] = json.loads((VECTORS / "traces.json").read_text(encoding="utf-8"))
THEIRS: list[dict[str, Any]] = json.loads(
    (VECTORS / "detect_secrets.json").read_text(encoding="utf-8")
)["vectors"]


def test_the_corpus_is_large_and_of_many() -> None:
    """The corpus has hundreds of texts of dozens of packages in two languages."""
    packages = {each["package"] for each in HARMLESS}
    assert len({each["text"] for each in HARMLESS}) >= 500
    assert len(packages) >= 50
    assert sum("@" in each for each in packages) >= 15


def test_messages_of_packages_are_not_leaks() -> None:
    """No error text of a package trips a detector, alone or in a body with ids and hashes."""
    around = (
        '{"correlation_id": "01a201dd-b672-7de5-9ec2-4aa6256c3c42", "order": "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T", "message": "%s", '
        '"etag": "W/\\"d41d8cd98f00b204e9800998ecf8427e\\"", "commit": "da39a3ee5e6b4b0d3255bfef95601890afd80709"}'
    )
    found = [
        (each["package"], each["text"], leak.what)
        for each in HARMLESS
        for text in (each["text"], around.replace("%s", each["text"]))
        for leak in detect(text, DETECTORS)
    ]
    assert found == []


#: What of the texts that come near is taken for a leak, with the reason.
ADMITTED = {
    "a broker's name": "the services of AWS speak of its queues and topics, which are what their callers use",
}


def test_what_comes_near_a_leak_is_none() -> None:
    """Harmless texts with needles of the detectors trip only what the list admits."""
    assert len({each["text"] for each in NEAR}) >= 200
    assert len({each["package"] for each in NEAR}) >= 20
    found = {leak.what for each in NEAR for leak in detect(each["text"], DETECTORS)}
    assert found == ADMITTED.keys()


def test_what_comes_near_comes_near() -> None:
    """Each of these texts has a needle, and together they need more than eighty patterns."""
    patterns = [pattern for each in DETECTORS.values() for pattern in each]
    asked = {
        pattern
        for pattern in patterns
        for each in NEAR
        if any(one in each["text"].lower() for one in pattern.needles)
    }
    assert len(asked) > 80
    for each in NEAR:
        assert any(
            one in each["text"].lower() for pattern in patterns for one in pattern.needles
        ), each["text"]


def test_the_corpus_is_what_its_lines_say() -> None:
    """If a package is installed in the same version, its source has the text at the given place."""
    spec = importlib.util.spec_from_file_location("harmless", VECTORS / "harmless.py")
    assert spec is not None
    assert spec.loader is not None
    harvest = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(harvest)
    seen = 0

    @cache
    def texts(path: str) -> frozenset[str]:
        raw = Path(path).read_bytes()
        source = (gzip.decompress(raw) if path.endswith(".gz") else raw).decode()
        return frozenset(text.strip() for text in harvest.of_module(path, source))

    for each in [*HARMLESS, *NEAR]:
        name, _, version = each["package"].partition("==")
        try:
            own = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        if own.version != version:
            continue
        assert each["text"] in texts(str(own.locate_file(each["file"]))), each
        seen += 1
    assert seen > 24


@pytest.mark.parametrize("trace", TRACES, ids=[each["name"] for each in TRACES])
def test_a_trace_of_any_runtime_is_seen(trace: dict[str, str]) -> None:
    """A trace is found whole, on one line, in JSON, and truncated at its beginning or end."""
    text = trace["text"]
    kept = [text, " ".join(text.split()), json.dumps({"message": text})]
    kept += [text[: len(text) * 2 // 3], text[len(text) // 3 :]] if len(text) > 300 else []
    for each in kept:
        assert [leak.kind for leak in detect(each, ["stack-trace"])], each


def test_the_traces_are_of_many_runtimes() -> None:
    """A real program, kept beside its trace, prints that trace under its runtime."""
    assert len({each["runtime"].partition(" ")[0] for each in TRACES} - {"openjdk"}) >= 9
    assert all(each["program"] and each["command"] and each["runtime"] for each in TRACES)


#: What the plugins of detect-secrets say and these detectors do not, with the reason.
MISSED = {
    "artifactory": "two letters and ten more are any abbreviation; tokens of full length are found by gitleaks' rule",
    "discord": "three words with dots between them, of which the first encodes no number",
    "twilio": "the ids of an account and of a key, which are not secrets themselves; here they consist of x",
    "npm": "`npm_xxxxxxxxxxx` stands for a token in documentation",
}
SEEN = {
    "aws_key": "a value called an access key, one character longer or shorter than those of AWS",
    "gitlab_token": "a token with the marks of GitLab (or GitHub), longer or shorter than its generator makes them",
    "jwt": "a token that was damaged on its way is a token still",
    "npm": "a value called an authToken, whatever the registry's URL before it",
    "telegram_token": "the token of a bot as it stands in a URL, behind the word bot",
    "openai": "the marks of the vendor with one letter of the middle changed",
    "pypi_token": "the marks of the vendor with fewer characters than it makes",
}


@pytest.mark.parametrize("vector", THEIRS, ids=range(len(THEIRS)))
def test_against_the_vectors_of_detect_secrets(vector: dict[str, Any]) -> None:
    """The detector agrees with the vectors, except for those declined with a reason."""
    seen = bool(detect(vector["text"], ["secret", "connection-string"]))
    if seen != vector["secret"]:
        assert vector["plugin"] in (MISSED if vector["secret"] else SEEN)


def test_what_is_declined_is_declined() -> None:
    """Each reason belongs to an existing vector that the detector still misses."""
    differ = [
        each
        for each in THEIRS
        if bool(detect(each["text"], ["secret", "connection-string"])) != each["secret"]
    ]
    assert {each["plugin"] for each in differ if each["secret"]} == set(MISSED)
    assert {each["plugin"] for each in differ if not each["secret"]} == set(SEEN)


def made(parsed: Any, random: Random, most: int = 60) -> str:
    """A random text that a parsed regular expression matches, without its surroundings.

    What may be repeated often is repeated ``most`` times.
    """
    text = ""
    for kind, value in parsed:
        match str(kind):
            case "LITERAL":
                text += chr(value)
            case "NOT_LITERAL":
                text += random.choice([each for each in "abz09 " if each != chr(value)])
            case "IN":
                text += random.choice(_of(tuple(value)))
            case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                low, high, inner = value
                text += "".join(
                    made(inner, random, most)
                    for _ in range(random.randint(low, min(high, max(low, most))))
                )
            case "SUBPATTERN":
                text += made(value[3], random, most)
            case "BRANCH":
                text += made(random.choice(value[1]), random, most)
            case "ANY":
                text += "."
    return text


@cache
def _of(parts: tuple[Any, ...]) -> str:
    """The characters of a set."""
    negated = str(parts[0][0]) == "NEGATE"
    numbers = (9, 10, *range(32, 127))
    of = parts[1:] if negated else parts
    return "".join(
        chr(number) for number in numbers if any(_has(each, number) for each in of) != negated
    )


def _has(part: Any, number: int) -> bool:
    kind, value = part
    if str(kind) == "CATEGORY":
        name = str(value).removeprefix("CATEGORY_")
        sign = {"DIGIT": r"\d", "WORD": r"\w", "SPACE": r"\s"}[name.removeprefix("NOT_")]
        return bool(re.match(sign, chr(number), re.ASCII)) != name.startswith("NOT_")
    return value[0] <= number <= value[1] if str(kind) == "RANGE" else bool(value == number)


PATTERNS = [(kind, pattern) for kind, patterns in DETECTORS.items() for pattern in patterns]


@pytest.mark.parametrize(
    "pattern",
    [each for _, each in PATTERNS],
    ids=[f"{kind}-{each.what}" for kind, each in PATTERNS],
)
def test_what_a_pattern_finds_has_a_needle(pattern: Pattern) -> None:
    """Every random match of an expression contains a needle; otherwise it would never be tried."""
    parsed = re._parser.parse(pattern.expression, pattern.flags)  # type: ignore[attr-defined]  # as hypothesis does
    random, seen = Random(pattern.expression), 0
    assert all(each == each.lower() and each for each in pattern.needles)
    for _ in range(100):
        for match in pattern.regex.finditer(f" {made(parsed, random, 4)} "):
            seen += 1
            assert any(needle in match[0].lower() for needle in pattern.needles), match[0]
    assert seen > 0


@pytest.mark.parametrize(
    "pattern",
    [each for _, each in PATTERNS],
    ids=[f"{kind}-{each.what}" for kind, each in PATTERNS],
)
def test_every_repetition_has_a_bound(pattern: Pattern) -> None:
    """No expression repeats anything more than a few hundred times, except those of long tokens."""

    def most(parsed: Any) -> int:
        found = 0
        for kind, value in parsed:
            match str(kind):
                case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
                    found = max(found, value[1], most(value[2]))
                case "SUBPATTERN":
                    found = max(found, most(value[3]))
                case "BRANCH":
                    found = max([found, *map(most, value[1])])
                case "ASSERT" | "ASSERT_NOT":
                    found = max(found, most(value[1]))
        return found

    assert most(re._parser.parse(pattern.expression, pattern.flags)) <= 8000  # type: ignore[attr-defined]


@pytest.mark.parametrize("token", TOKENS, ids=[each[0] for each in TOKENS])
def test_a_token_that_names_its_vendor_is_seen(token: tuple[str, str, str, float]) -> None:
    """A random token of each rule is found in a sentence, whatever follows it."""
    name, _, expression, _ = token
    random = Random(name)
    parsed = re._parser.parse(expression)  # type: ignore[attr-defined]  # as hypothesis does
    text = max((made(parsed, random) for _ in range(4)), key=lambda each: len(set(each)))
    for around in (
        "The key %s was refused.",
        "%s",
        "The key is %s, and it has expired",
        '{"key": "%s"}',
    ):
        assert detect(around % text, ["secret", "internal-name"]), text


def test_a_placeholder_is_not_a_token() -> None:
    """Placeholders in documentation have no entropy, and trip none of the vendored rules."""
    assert (
        detect(
            "write hvs.xxxxxxxxxxxxxxxxxxxxxxxxxxxx or dapi00000000000000000000000000000000",
            ["secret"],
        )
        == ()
    )
