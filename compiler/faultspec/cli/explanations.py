"""The explanations of all names: those of faultspec, and those that the taxonomies of a project
declare.
"""

import json
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from faultspec.cli.files import UserFile, user_files
from faultspec.cli.project import declared_taxonomies, find_project
from faultspec.cli.project_rules import project_rules
from faultspec.contract.clauses import CLAUSES, Clause, client_clauses, service_clauses
from faultspec.contract.clauses.enabling import enabling_lines
from faultspec.diagnostics.model import Path
from faultspec.docs.evolution import example_change
from faultspec.docs.pages import example_output
from faultspec.evolution.examples import EXAMPLES as EVOLUTION_EXAMPLES
from faultspec.evolution.rule import EvolutionRule
from faultspec.evolution.rules import RULES as EVOLUTION_RULES
from faultspec.language import load, reference
from faultspec.language.carriers import http_carriers
from faultspec.language.catalog import CODES
from faultspec.language.constructs import DOCUMENT
from faultspec.language.examples import EXAMPLES
from faultspec.language.model import Code, Override, Ruling, Taxonomy
from faultspec.language.pictures import fill_message
from faultspec.language.record_examples import record_examples
from faultspec.lint import RULES, LintRule, links, sizes, style, suppressions
from faultspec.project import FILE
from faultspec.raising import findings
from faultspec.runtime import shape
from faultspec.source import CODES as SOURCE_CODES
from faultspec.targets.doc_text import message_template


@dataclass(frozen=True, slots=True)
class Explanations:
    """The names that can be explained here. ``unreadable``: files with errors, which may declare
    more names.

    ``texts``: names with the lines of their explanations, those of the taxonomies first. A name may
    stand for several things. Lines are computed when they are read.
    """

    taxonomies: tuple[Taxonomy, ...]
    unreadable: tuple[str, ...]
    texts: tuple[tuple[str, Iterable[str]], ...]

    def find(self, name: str) -> list[str]:
        """The explanations of a name; a key may be written with the names that an author chose."""
        names = (name, *_written_addresses(name))
        return ["\n".join(text) for known, text in self.texts if known in names]

    def names(self) -> tuple[str, ...]:
        """All names, without repetition."""
        return tuple(dict.fromkeys(known for known, _ in self.texts))


def load_explanations(path: str | None) -> Explanations:
    """Read a taxonomy, or with None those of the project around the working directory."""
    around = find_project() if path is None else None
    project = None if around is None else around.project
    unreadable = [] if around is None or project is not None else [FILE]
    taxonomies = []
    for file in declared_taxonomies(project) if path is None else (path,):
        loaded = load(file)
        if loaded.taxonomy is None:
            unreadable.append(file)
        else:
            taxonomies.append(loaded.taxonomy)
    more = project_rules(project)
    unreadable += [FILE] if more.diagnostics else []
    own = (rule for rule in more.rules if rule.id not in style.CODES)
    texts = [*_explanations(taxonomies), *((rule.id, _rule(rule)) for rule in own)]
    return Explanations(tuple(taxonomies), tuple(unreadable), tuple(texts))


def code_address(path: Path, code: Code) -> str:
    """The name by which a code at a place of its taxonomy is explained."""
    return f"{path[1]}.{code.name}" if path[0] == "operations" else code.name


def _explanations(taxonomies: Sequence[Taxonomy]) -> list[tuple[str, Iterable[str]]]:
    """All names with their explanations, those of the taxonomies first. An explanation is written
    on demand.
    """
    found: list[tuple[str, Iterable[str]]] = []
    for taxonomy in taxonomies:
        for path, code in taxonomy.located_codes():
            address = code_address(path, code)
            text = _code(taxonomy, code, path, address)
            found += [(name, text) for name in dict.fromkeys((address, code.name, str(code.wire)))]
        found += [(ruling.name, _ruling(taxonomy, ruling)) for ruling in taxonomy.rulings.values()]
    clauses: Mapping[str, Clause] = dict(CLAUSES)
    for taxonomy in taxonomies:
        clauses = {**clauses, **service_clauses(taxonomy), **client_clauses(taxonomy)}
    found += [(rule.id, _rule(rule)) for rule in RULES]
    found += [(rule.id, _evolution_rule(rule)) for rule in EVOLUTION_RULES]
    found += [(clause.address, _clause(clause)) for clause in clauses.values()]
    found += [
        (construct.address, _construct(construct)) for construct in reference.constructs().values()
    ]
    found.append(("records", _records()))
    for file in user_files():
        found.append((file.name, _file(file)))
        found += [
            (construct.address, _file_key(file, construct))
            for construct in reference.constructs(file.grammar).values()
        ]
    conditions = {**SOURCE_CODES, **CODES, **suppressions.CODES, **sizes.CODES}
    conditions |= {**style.CODES, **links.CODES, **findings.CODES}
    found += [(code, _diagnostic(code, condition)) for code, condition in conditions.items()]
    return found


def _written_addresses(name: str) -> Iterator[str]:
    """The addresses of a key that is written with `*` or with the names that an author chose."""
    for grammar in (DOCUMENT, *(file.grammar for file in user_files())):
        address = reference.address_of(grammar, name)
        if address:
            yield address


def _wrap(text: str, indent: str = "  ") -> str:
    return textwrap.fill(
        " ".join(text.split()), 100, initial_indent=indent, subsequent_indent=indent
    )


def _facts(rows: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    given = [(name, value) for name, value in rows if value]
    width = max((len(name) for name, _ in given), default=0)
    for name, value in given:
        yield f"  {name:<{width}}  {value}"


def _override(taxonomy: Taxonomy, override: Override) -> Iterator[str]:
    """A decision in place of the base's, and the ruling that allows it."""
    yield ""
    yield _wrap(f"Decided otherwise: {override.path} is {json.dumps(override.value)}")
    yield _wrap(f"Why: {override.reason}", "    ")
    for name in override.rulings:
        decision = taxonomy.rulings[name].decision if name in taxonomy.rulings else ""
        yield _wrap(f"The ruling {name} allows it; its decision was: {decision}", "    ")


def _code(taxonomy: Taxonomy, code: Code, path: Path, address: str) -> Iterator[str]:
    yield f"{address}: a code of the taxonomy `{taxonomy.name}`" + (
        "" if code.live else f" ({code.lifecycle})"
    )
    yield _wrap(code.summary)
    if code.description:
        yield _wrap(code.description)
    yield ""
    statuses = ", ".join(map(str, code.http.statuses)) or f"never ({code.http.reason})"
    flag = {"always": "yes", "never": "no", "caller": "the service decides", "none": None}.get(
        code.retriable.flag_kind, "it depends"
    )
    details = ", ".join(
        f"{name} ({' or '.join(member.schema.types) or 'any'}, {member.presence})"
        for name, member in code.details.items()
    )
    yield from _facts(
        (
            ("on the wire", json.dumps(code.wire)),
            *(
                (f"in `{envelope}`", json.dumps(identity))
                for envelope, identity in code.identities.items()
            ),
            ("HTTP", statuses),
            ("message", code.message),
            ("retriable", flag),
            (
                "the client",
                {
                    "retry": "retries",
                    "refetch": "reads again and retries",
                    "user": "asks a person",
                }.get(code.client_action, "does not retry"),
            ),
            ("policy", code.retry),
            (
                "effect",
                "none: nothing happened" if code.effect == "none" else code.effect,
            ),
            ("domain", code.domain),
            ("boundary", ", ".join(code.boundaries)),
            ("details", details),
            ("actions", _actions(code)),
            ("lifecycle", code.lifecycle if code.lifecycle in ("experimental", "beta") else None),
            ("fault of", code.support.fault),
            ("owner", code.support.owner or taxonomy.owner),
            ("runbook", code.support.runbook),
            ("documentation", code.support.docs),
            ("replaced by", code.replaced_by),
            ("ends on", code.sunset),
            ("statements", ", ".join(code.source.statements)),
            ("rulings", ", ".join(code.source.rulings)),
        )
    )
    for override in taxonomy.overrides.values():
        if override.is_within(tuple(map(str, path))):
            yield from _override(taxonomy, override)
    status = code.http.default
    rules = taxonomy.header_rules(code, status)
    if rules:
        yield from ("", "  headers:")
        yield from (f"    {rule.name}: {rule.presence}" for rule in rules)
    for surface in http_carriers(taxonomy, code, of_operation=path[0] == "operations"):
        own = surface.headers if surface is not None else ()
        there = [rule for rule in own if rule.applies(code.name, status)]
        if surface is not None and there:
            yield from ("", f"  headers on `{surface.name}`:")
            yield from (f"    {rule.name}: {rule.presence}" for rule in there)
    yield from _instance(taxonomy, code)


def _actions(code: Code) -> str:
    """The actions that errors with the code suggest; empty if it does not say."""
    listed = ", ".join(code.actions)
    if not code.exact_actions:
        return listed
    return f"exactly {listed}" if listed else "none: its errors suggest no action"


def _instance(taxonomy: Taxonomy, code: Code) -> Iterator[str]:
    """The first example in the first envelope."""
    if not code.examples or not taxonomy.envelopes:
        return
    example = code.examples[0]
    envelope = next(iter(taxonomy.envelopes.values()))
    status = example.status or code.http.default
    slots: dict[str, object] = {slot: f"<{slot}>" for slot in shape.slot_places(envelope.shape)}
    known: dict[str, object] = {
        "code": code.wire_in(envelope),
        "message": example.message or fill_message(message_template(code), example.details or {}),
        "summary": code.summary,
        "status": status,
        "domain": code.domain,
        "boundary": next(iter(code.boundaries), None),
        "retriable": code.example_flag(example),
        "actions": [] if code.exact_actions and not code.actions else list(code.actions) or None,
        "details": example.details,
        **example.slots,
    }
    try:
        body = shape.render(envelope.sent, {**slots, **known})
    except ValueError:  # a spread member that the envelope has too
        return
    yield from ("", "  for example:")
    if status is not None:
        yield f"    {status}"
    yield from (f"    {name}: {value}" for name, value in example.headers.items())
    yield textwrap.indent(json.dumps(body, indent=2, ensure_ascii=False), "    ")


def _ruling(taxonomy: Taxonomy, ruling: Ruling) -> Iterator[str]:
    yield f"{ruling.name}: a ruling" + (
        f" on {', '.join(ruling.statements)}" if ruling.statements else ""
    )
    yield from (
        _wrap(f"The conflict: {ruling.conflict}"),
        _wrap(f"The decision: {ruling.decision}"),
    )
    yield _wrap(f"Why: {ruling.reason}")
    if ruling.allows:
        yield _wrap(f"An extending taxonomy may decide otherwise: {', '.join(ruling.allows)}")
    for override in taxonomy.overrides.values():
        if ruling.name in override.rulings:
            yield from _override(taxonomy, override)


def _rule(rule: LintRule) -> Iterator[str]:
    yield f"{rule.id}: a lint rule ({rule.severity})"
    yield _wrap(rule.purpose)
    if not rule.bad:  # `python -OO` strips the docstrings, which document the rules
        return
    yield from ("", "  bad:", textwrap.indent(rule.bad.rstrip(), "    "))
    yield from ("", textwrap.indent(example_output(rule).rstrip(), "    "))
    yield from ("", "  good:", textwrap.indent(rule.good.rstrip(), "    "))
    yield from (
        "",
        f"  to suppress it, add a comment at the key: # faultspec: ignore[{rule.id}] the reason",
    )


def _evolution_rule(rule: EvolutionRule) -> Iterator[str]:
    example = EVOLUTION_EXAMPLES[rule.id]
    yield f"{rule.id}: a rule of `faultspec diff` ({' '.join(rule.categories)})"
    yield _wrap(rule.purpose)
    yield from ("", "  before:", textwrap.indent(example.before.rstrip(), "    "))
    yield from ("", "  after:", textwrap.indent(example.after.rstrip(), "    "))
    yield from ("", textwrap.indent(example_change(rule), "  "))


def _clause(clause: Clause) -> Iterator[str]:
    yield f"{clause.address}: a clause"
    yield _wrap(clause.title)
    yield _wrap(f"Why: {clause.why}")
    yield _wrap(f"When: {clause.occasion}")
    yield from _facts(
        (
            ("statements", ", ".join(clause.statements)),
            ("presupposes", ", ".join(clause.presupposes)),
            (
                "checked by",
                "a probe of several requests" if clause.relation else "each exchange",
            ),
        )
    )
    lines = enabling_lines(clause)
    if lines:
        yield from ("", "  it needs in the taxonomy, for example:")
        yield from (f"    {line}" for _, line in lines)


def _construct(construct: reference.Construct) -> Iterator[str]:
    section = construct.address.partition(".")[0]
    yield f"{construct.address}: a construct of the language"
    yield from _key(construct, EXAMPLES[section])


def _records() -> Iterator[str]:
    yield "records: the kinds of records that `faultspec audit` reads, by example"
    yield _wrap(
        "Under `telemetry: records:` the taxonomy declares where a log or a table has the parts of "
        "an exchange. `faultspec init audit SAMPLE` drafts it. `telemetry.records` explains the "
        "keys; a row of CSV or Parquet is an object of its columns."
    )
    for example in record_examples():
        yield from ("", f"  {example.title}:", _wrap(example.line, "    "))
        kind = yaml.safe_dump(example.record, sort_keys=False, width=90)
        yield textwrap.indent(kind.rstrip(), "      ")


def _file(file: UserFile) -> Iterator[str]:
    yield f"{file.name}: a file that you write"
    yield _wrap(file.summary)
    yield from ("", "  its keys, explained by their names:")
    top = (name for record in reference.nested_records(file.grammar) for name in record.keys)
    yield _wrap(", ".join(dict.fromkeys(top)), "    ")
    yield from ("", "  for example:", textwrap.indent(file.example.rstrip(), "    "))


def _file_key(file: UserFile, construct: reference.Construct) -> Iterator[str]:
    yield f"{construct.address}: a key of {file.name}"
    yield from _key(construct, file.section(construct.address))


def _key(construct: reference.Construct, example: str) -> Iterator[str]:
    """The meaning of a key, its values, the keys below it, and an example."""
    takes = reference.describe_type(construct.key.type).replace("\\|", "|")
    yield _wrap(construct.key.doc)
    yield _wrap(f"It takes {takes}" + (", and is required." if construct.key.required else "."))
    below = list(reference.nested_records(construct.key.type))
    if below:
        yield from ("", f"  its keys, explained by {construct.address}.KEY:")
        names = dict.fromkeys(name for record in below for name in record.keys)
        yield _wrap(", ".join(names), "    ")
    yield from ("", "  for example:", textwrap.indent(example.rstrip(), "    "))


def _diagnostic(code: str, condition: str) -> Iterator[str]:
    yield f"{code}: a diagnostic of a taxonomy with errors"
    yield _wrap(condition)
