"""Lint rules about lifecycles: deprecated, reserved and removed codes and terms."""

import re
from collections.abc import Iterator, Mapping

from faultspec.diagnostics.model import Path
from faultspec.language.model import Constant, Term
from faultspec.lint.places import circle, names_in_circles
from faultspec.lint.rule import Remark, Subject, rule

#: Names of a circle that a message shows; a circle of all codes would make it as long as the file.
_SHOWN = 8


@rule("dead-reference", severity="error")
def dead_reference(subject: Subject) -> Iterator[Remark]:
    """Fallbacks, replacements and lists name codes that a service may produce.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, lifecycle: removed}
          broken: {summary: It is broken., http: 500}
        unknown: {becomes: failed}

    Good::

        codes:
          failed: {summary: It failed., http: 500, lifecycle: removed}
          broken: {summary: It is broken., http: 500}
        unknown: {becomes: broken}
    """
    alive = {code.name for _, code in subject.live_codes()}
    lifecycles = {code.name: code.lifecycle for _, code in subject.codes()}
    for path, name in _replacements(subject):
        if name not in alive:
            message = f"`{name}` is {lifecycles[name]}, so no service may answer with it"
            yield Remark(path, message, "name a live code", on_key=False)
    for path, names in _code_lists(subject):
        for index, name in enumerate(names if isinstance(names, list) else ()):
            # A list may name a reserved code before it is in use.
            if str(name) not in alive and lifecycles.get(str(name)) == "removed":
                message = f"`{name}` is removed, so no service may answer with it"
                yield Remark((*path, index), message, "remove it from the list", on_key=False)


def _replacements(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Every code that replaces an unknown or undeclared error, with its path."""
    taxonomy = subject.taxonomy
    for section, becomes in (("unknown", taxonomy.unknown), ("undeclared", taxonomy.undeclared)):
        if becomes is not None:
            yield (section, "becomes"), becomes.becomes
    for key, fallback in zip(subject.data.get("fallback", {}), taxonomy.fallbacks, strict=False):
        if fallback.code is not None:
            yield ("fallback", key, "code"), fallback.code
    if taxonomy.idempotency is not None and taxonomy.idempotency.mismatch is not None:
        yield ("idempotency", "mismatch"), taxonomy.idempotency.mismatch
    if taxonomy.idempotency is not None and taxonomy.idempotency.missing not in (None, "accepted"):
        yield ("idempotency", "missing"), taxonomy.idempotency.missing or ""
    for index, row in enumerate(taxonomy.upstream.codes if taxonomy.upstream else ()):
        yield ("upstream", "codes", index, "becomes"), row.becomes
    for index, conceal in enumerate(taxonomy.privacy.conceal if taxonomy.privacy else ()):
        yield ("privacy", "conceal", index, "answer"), conceal.answer
    for path, code in subject.codes():
        if code.replaced_by is not None:
            yield (*path, "replaced_by"), code.replaced_by


def _code_lists(subject: Subject) -> Iterator[tuple[Path, object]]:
    """Every list of codes in the document, with its path."""
    for section in ("surfaces", "operations"):
        for name, entry in subject.mapping_at(section).items():
            yield (section, name, "codes"), entry.get("codes")
    for name, policy in subject.mapping_at("retry_policies").items():
        yield ("retry_policies", name, "eligible"), policy.get("eligible")
        for kind, entry in policy.get("kinds", {}).items():
            yield ("retry_policies", name, "kinds", kind, "codes"), entry.get("codes")
    for name, alert in subject.mapping_at("telemetry", "alerts").items():
        yield ("telemetry", "alerts", name, "codes"), alert.get("codes")
    for index, entry in enumerate(subject.mapping_at("privacy").get("conceal", ())):
        yield ("privacy", "conceal", index, "never"), entry.get("never")
    places: list[Path] = [("headers",)]
    places += [("surfaces", name, "headers") for name in subject.mapping_at("surfaces")]
    for place in places:
        for name, rules in subject.mapping_at(*map(str, place)).items():
            if isinstance(rules, list):
                for index, entry in enumerate(rules):
                    yield (*place, name, index, "codes"), entry.get("codes")
            elif isinstance(rules, dict):  # a presence alone names no codes
                yield (*place, name, "codes"), rules.get("codes")


@rule("deprecated-without-successor", severity="warning")
def deprecated_without_successor(subject: Subject) -> Iterator[Remark]:
    """A deprecated code has a sunset date or a replacement.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, lifecycle: deprecated}

    Good::

        codes:
          failed: {summary: It failed., http: 500, lifecycle: deprecated, replaced_by: broken}
          broken: {summary: It is broken., http: 500}
    """
    for path, code in subject.codes():
        if code.lifecycle == "deprecated" and code.replaced_by is None and code.sunset is None:
            message = f"`{code.name}` is deprecated, without a sunset date or a replacement"
            yield Remark((*path, "lifecycle"), message, "add `sunset:` or `replaced_by:`")


@rule("sunset-of-stable", severity="warning")
def sunset_of_stable(subject: Subject) -> Iterator[Remark]:
    """A code with a sunset date is deprecated.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, sunset: 2027-01-31}

    Good::

        codes:
          failed: {summary: It failed., http: 500, sunset: 2027-01-31, lifecycle: deprecated}
    """
    for path, code in subject.codes():
        if code.sunset is not None and code.live and code.lifecycle != "deprecated":
            message = f"`{code.name}` ends on {code.sunset}, but is declared {code.lifecycle}"
            hint = "add `lifecycle: deprecated`, or remove `sunset:`"
            yield Remark((*path, "sunset"), message, hint)


@rule("sunset-passed", severity="warning")
def sunset_passed(subject: Subject) -> Iterator[Remark]:
    """No code is produced after its sunset.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, sunset: 2020-01-31, lifecycle: deprecated}

    Good::

        codes:
          failed: {summary: It failed., lifecycle: removed}
    """
    if subject.today is None:
        return
    for path, code in subject.live_codes():
        if code.sunset is not None and code.sunset < subject.today.isoformat():
            message = f"the sunset of `{code.name}` was on {code.sunset}, and it is still produced"
            hint = "write `lifecycle: removed`, or a later `sunset:`"
            yield Remark((*path, "sunset"), message, hint, on_key=False)


@rule("since-later-version", severity="warning")
def since_later_version(subject: Subject) -> Iterator[Remark]:
    """The `since` of a live code is not later than the version of the taxonomy.

    Bad::

        taxonomy: {name: shop, version: 1.2.0}
        codes:
          failed: {summary: It failed., http: 500, since: 2.0.0}

    Good::

        taxonomy: {name: shop, version: 1.2.0}
        codes:
          failed: {summary: It failed., http: 500, since: 1.2.0}
    """
    now = _version(subject.taxonomy.version)
    for path, code in subject.live_codes():
        since = _version(code.since or "")
        if since is not None and now is not None and since > now:
            message = (
                f"`{code.name}` exists since {code.since}, which is later than this version,"
                f" {subject.taxonomy.version}"
            )
            hint = "raise the version, correct `since:`, or write `lifecycle: reserved`"
            yield Remark((*path, "since"), message, hint, on_key=False)


def _version(text: str) -> tuple[int, ...] | None:
    """The three numbers of a semantic version; None if the text is not one."""
    found = re.match(r"(\d+)\.(\d+)\.(\d+)(?![.\d])", text)
    return tuple(map(int, found.groups())) if found else None


@rule("replacement-circle", severity="error")
def replacement_circle(subject: Subject) -> Iterator[Remark]:
    """No chain of `replaced_by` is circular.

    Bad::

        codes:
          failed: {summary: It failed., http: 500, lifecycle: deprecated, replaced_by: broken}
          broken: {summary: It is broken., http: 500, lifecycle: deprecated, replaced_by: failed}

    Good::

        codes:
          failed: {summary: It failed., http: 500, lifecycle: deprecated, replaced_by: broken}
          broken: {summary: It is broken., http: 500}
    """
    successors = {code.name: code.replaced_by for _, code in subject.codes()}
    inside = names_in_circles(successors)
    for path, code in subject.codes():
        if code.name not in inside and code.replaced_by == successors[code.name]:
            continue
        names = circle(code.name, code.replaced_by, successors)
        if names:
            shown = names if len(names) <= _SHOWN else (*names[:_SHOWN], "…")
            chain = " → ".join((*shown, code.name))
            message = f"the replacements of `{code.name}` lead back to it: {chain}"
            hint = "end the chain at a live code"
            yield Remark((*path, "replaced_by"), message, hint, on_key=False)


@rule("removed-with-facts", severity="warning")
def removed_with_facts(subject: Subject) -> Iterator[Remark]:
    """A removed code keeps its name and its summary only.

    Bad::

        codes:
          failed: {summary: It failed., lifecycle: removed, example: {message: It failed.}}

    Good::

        codes:
          failed: {summary: It failed., lifecycle: removed}
    """
    for path, code in subject.codes():
        if code.lifecycle == "removed" and (code.retry or code.headers or code.examples):
            message = f"`{code.name}` is removed, so its policy, headers and examples have no use"
            yield Remark(path, message, "keep the summary only")


@rule("reserved-term", severity="error")
def reserved_term(subject: Subject) -> Iterator[Remark]:
    """No live code uses a reserved domain, boundary, action or vocabulary term.

    Bad::

        boundaries:
          person: {summary: Waiting on a person., lifecycle: reserved}
        codes:
          denied: {summary: A person said no., http: 403, boundary: person}

    Good::

        boundaries:
          person: {summary: Waiting on a person., lifecycle: reserved}
        codes:
          denied: {summary: A person said no., http: 403, boundary: person, lifecycle: reserved}
    """
    taxonomy = subject.taxonomy
    sections: dict[str, Mapping[str, Term]] = {
        **taxonomy.vocabularies,
        "domains": taxonomy.domains,
        "boundaries": taxonomy.boundaries,
        "actions": taxonomy.actions,
    }
    for path, code in subject.live_codes():
        uses: list[tuple[Path, str | None, tuple[Constant, ...]]] = [
            (("domain",), "domains", (code.domain,) if code.domain else ()),
            (("boundary",), "boundaries", code.boundaries),
            (("actions",), "actions", code.actions),
        ]
        for slot, names in code.facts.items():
            field = taxonomy.field_of(slot)
            uses.append((("facts", slot), field.schema.vocabulary if field else None, names))
        for where, section, names in uses:
            terms = sections.get(section or "", {})
            for name in map(str, names):
                if name in terms and terms[name].lifecycle == "reserved":
                    message = f"`{name}` is reserved, but the live code `{code.name}` uses it"
                    hint = "make the term `stable`, or the code `lifecycle: reserved`"
                    yield Remark((*path, *where), message, hint)
