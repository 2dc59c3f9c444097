"""Renames of codes are found through an index, and are those that comparing all codes finds."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from faultspec.evolution.pairing import find_renames, has_same_class
from faultspec.language import read
from faultspec.language.model import Code, Taxonomy
from support.examples import examples

NAMES = st.sampled_from(
    ("not_found", "notfound", "gone", "lost", "conflict", "con_flict", "busy", "late", "late_")
)


def taxonomy(codes: dict[str, dict[str, Any]]) -> Taxonomy | None:
    """A taxonomy with these codes; None if they are not sound together. A code is deprecated if it
    has a successor.
    """
    for name, code in codes.items():
        if code.get("replaced_by") in codes.keys() - {name}:
            code["lifecycle"] = "deprecated"
        else:
            code.pop("replaced_by", None)
    data = {
        "faultspec": 1,
        "taxonomy": {"name": "t", "version": "1.0.0"},
        "envelopes": {"error": {"shape": {"code": "$code"}}},
        "surfaces": {"api": {"transport": "http", "envelope": "error"}},
        "codes": codes,
    }
    return read(json.dumps(data), "t.yaml").taxonomy


CODES = st.dictionaries(
    NAMES,
    st.fixed_dictionaries(
        {
            "summary": st.sampled_from(("It is gone.", "It is late.")),
            "http": st.sampled_from((404, 409)),
            "retriable": st.just(False),
        },
        optional={
            "wire": st.sampled_from(("A", "B", "gone")),
            "replaced_by": st.sampled_from(("not_found", "gone")),
        },
    ),
    min_size=1,
    max_size=6,
)


def compare_all(old: Taxonomy, new: Taxonomy) -> Iterator[tuple[str, str, bool]]:
    """The renames by comparing each code with each: its old and new name, and whether it is
    certain.
    """
    added = [code for name, code in new.codes.items() if name not in old.codes and code.live]
    gone = [code for name, code in old.codes.items() if name not in new.codes and code.live]

    def alike(one: Code, other: Code) -> bool:
        return one.replaced_by is None and one == other._replace(name=one.name, wire=one.wire)

    for code in tuple(gone):
        same = [a for a in added if a.wire == code.wire or has_same_class(a.name, code.name)]
        if same:
            added.remove(same[0])
            gone.remove(code)
            yield code.name, same[0].name, True
    for code in gone:
        found = [a for a in added if alike(code, a)]
        if len(found) == 1 and sum(alike(other, found[0]) for other in gone) == 1:
            yield code.name, found[0].name, False


@examples(500, steady=60)
@given(CODES, CODES)
def test_an_index_finds_the_renames_of_a_comparison_of_all(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]
) -> None:
    """Whichever codes have names, wire values and fields in common, in this order."""
    old, new = taxonomy(before), taxonomy(after)
    if old is None or new is None:
        return
    found = [(one.old, one.new, one.certain) for one in find_renames(old, new)]
    assert found == list(compare_all(old, new))
