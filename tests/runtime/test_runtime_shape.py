"""Laws of envelope shapes: written, rendered and read back."""

import copy

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from faultspec.runtime.shape import (
    Array,
    Literal,
    MissingSlot,
    Object,
    ShapeError,
    Slot,
    Template,
    compile_shape,
    describe,
    extract,
    render,
    slot_places,
    walk,
)

PLATFORM = {
    "code": "$code",
    "message": "$message",
    "correlation_id": "$correlation_id",
    "details?": "$details",
}
AILERON = {
    "error": {
        "class": "$code",
        "message": "$message",
        "retriable": "$retriable",
        "boundary": "$boundary",
        "audit_id": "$audit_id",
        "details?": "$details",
    }
}
ERROR_INFO = {
    "error_code": "$code",
    "phase": "$phase",
    "retryable": "$retriable",
    "actions": "$actions",
    "detail?": "$detail",
}
KEENBENCH = {
    "jsonrpc": "2.0",
    "id": "$request_id",
    "error": {"code": -32000, "message": "$message", "data": {"use": "error_info"}},
}
THEODOSIA = {"error": "$code", "...": "$details"}
REGISTRY = {"errors": [{"code": "$code", "message": "$message", "detail?": "$details"}]}
PROBLEM = {
    "type": "https://errors.example.com/${code}",
    "title": "$summary",
    "status": "$status",
    "detail": "$message",
}
USES = {"error_info": compile_shape(ERROR_INFO)}
SHAPES = {
    "platform": PLATFORM,
    "aileron": AILERON,
    "keenbench": KEENBENCH,
    "theodosia": THEODOSIA,
    "registry": REGISTRY,
    "problem": PROBLEM,
}
SLOTS = {
    "code": "rate_limited",
    "message": "Too many requests",
    "correlation_id": "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T",
    "details": {"limit": 2000},
    "retriable": True,
    "boundary": "external",
    "audit_id": "audit-1",
    "phase": "run",
    "actions": ["retry"],
    "detail": "slow down",
    "request_id": 7,
    "summary": "Rate limited",
    "status": 429,
}


@pytest.mark.parametrize(
    ("name", "body"),
    [
        (
            "platform",
            {
                "code": "rate_limited",
                "message": "Too many requests",
                "correlation_id": "01JAH8ZJ0Z8Z0N7M1X6JZ8QW0T",
                "details": {"limit": 2000},
            },
        ),
        (
            "aileron",
            {
                "error": {
                    "class": "rate_limited",
                    "message": "Too many requests",
                    "retriable": True,
                    "boundary": "external",
                    "audit_id": "audit-1",
                    "details": {"limit": 2000},
                }
            },
        ),
        (
            "keenbench",
            {
                "jsonrpc": "2.0",
                "id": 7,
                "error": {
                    "code": -32000,
                    "message": "Too many requests",
                    "data": {
                        "error_code": "rate_limited",
                        "phase": "run",
                        "retryable": True,
                        "actions": ["retry"],
                        "detail": "slow down",
                    },
                },
            },
        ),
        ("theodosia", {"error": "rate_limited", "limit": 2000}),
        (
            "registry",
            {
                "errors": [
                    {
                        "code": "rate_limited",
                        "message": "Too many requests",
                        "detail": {"limit": 2000},
                    }
                ]
            },
        ),
        (
            "problem",
            {
                "type": "https://errors.example.com/rate_limited",
                "title": "Rate limited",
                "status": 429,
                "detail": "Too many requests",
            },
        ),
    ],
)
def test_each_system_s_envelope_renders_to_its_wire_form_and_reads_back(name, body):
    """The five systems' shapes (and RFC 9457's) put every slot where the wire has it, and read it
    from there.
    """
    node = compile_shape(SHAPES[name], USES)
    assert render(node, SLOTS) == body
    read = extract(node, body)
    assert read.fits
    assert read.unexpected == ()
    assert read.slots == {slot: SLOTS[slot] for slot in slot_places(node)}


# A template splits at its separators, so a value that contains one can't come back; everything else
# can.
names = st.from_regex(r"[a-z_][a-z0-9_]{0,3}", fullmatch=True)
scalars = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
)
literals = scalars.map(lambda value: value.replace("$", "$$") if isinstance(value, str) else value)
keys = st.text(max_size=6).filter(
    lambda key: key != "..." and key != "use" and not key.endswith("?")
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def shapes(draw):
    """A shape in which every slot stands once, with a value for each."""
    slots = {}

    def slot_name():
        return draw(names.filter(lambda name: name not in slots))

    def build(depth):
        kind = draw(
            st.sampled_from(
                ["slot", "literal", "template", "object", "array"] if depth else ["slot", "literal"]
            )
        )
        if kind == "slot":
            name = slot_name()
            slots[name] = draw(json_values)
            return f"${name}"
        if kind == "literal":
            return draw(literals)
        if kind == "template":
            text = draw(st.text(max_size=3)).replace("$", "$$")
            for index in range(draw(st.integers(1, 3))):
                name = slot_name()
                slots[name] = draw(st.text(alphabet="abc", max_size=3))
                text += ("|" if index else "") + f"${{{name}}}"
            return text + draw(st.sampled_from(["", ".json", "$$"]))
        if kind == "array":
            return [build(depth - 1)]
        members = {}
        for key in draw(st.lists(keys, max_size=3, unique=True)):
            members[key + draw(st.sampled_from(["", "?"]))] = build(depth - 1)
        if draw(st.booleans()):
            name = slot_name()
            slots[name] = draw(
                st.dictionaries(
                    st.text(min_size=7, max_size=9), json_values, min_size=1, max_size=2
                )
            )
            members["..."] = f"${name}"
        return members

    return build(3), slots


@given(shapes())
def test_what_is_rendered_is_read_back(shape_and_slots):
    """extract(render(slots)) has no departures and gives the slots back; only a None left out may
    be absent.
    """
    data, slots = shape_and_slots
    node = compile_shape(data)
    read = extract(node, render(node, slots))
    assert read.fits
    assert read.unexpected == ()
    assert read.more == ()
    assert {name: read.slots.get(name) for name in slots} == slots
    assert set(read.slots) <= set(slots)


@given(shapes())
def test_every_slot_is_found_where_the_shape_says_it_stands(shape_and_slots):
    """The places of `slot_places` are those of `extract` on a rendered body."""
    data, slots = shape_and_slots
    node = compile_shape(data)
    read = extract(node, render(node, slots))
    places = {name: [place.path for place in found] for name, found in slot_places(node).items()}
    assert set(places) == set(slots)
    for name, path in read.where.items():
        assert path in places[name]


@given(shapes(), json_values)
@example(({"a": "$x", "b": "$x"}, {}), {"a": [1], "b": {}})
def test_any_body_whatever_is_read_without_an_exception_and_left_as_it_was(shape_and_slots, body):
    """`extract` is total, and reads only."""
    before = copy.deepcopy(body)
    extract(compile_shape(shape_and_slots[0]), body)
    assert body == before


def test_a_body_nested_beyond_the_recursion_limit_is_read():
    """Depth is bounded by the shape, not by the body."""
    deep, other = [], []
    for _ in range(100_000):
        deep, other = [deep], [other]
    node = compile_shape({"a": "$x", "b": "$x"})
    read = extract(node, {"a": deep, "b": other})
    assert [mismatch.path for mismatch in read.mismatched] == ["/b"]
    del read
    for nested in (deep, other):  # unwound by hand, so that collecting it doesn't nest either
        while nested:
            nested = nested.pop()


def test_each_departure_is_reported_at_its_place_and_the_rest_still_read():
    """Reading is tolerant: what can be read is, and missing, mismatched and unexpected members are
    named apart.
    """
    node = compile_shape(KEENBENCH, USES)
    read = extract(
        node,
        {
            "jsonrpc": "1.0",
            "error": {
                "code": True,
                "message": "no",
                "data": {"error_code": "X", "phase": 3, "trace/line~": 1},
                "x": 2,
            },
        },
    )
    assert read.slots == {"message": "no", "code": "X", "phase": 3}
    assert read.where == {
        "message": "/error/message",
        "code": "/error/data/error_code",
        "phase": "/error/data/phase",
    }
    assert read.missing == ("/id", "/error/data/retryable", "/error/data/actions")
    assert [tuple(each) for each in read.mismatched] == [
        ("/jsonrpc", '"2.0"', "1.0"),
        ("/error/code", "-32000", True),
    ]
    assert read.unexpected == ("/error/data/trace~1line~0", "/error/x")
    assert not read.fits


@pytest.mark.parametrize("body", [None, True, 5, "refused", [], ["x"]])
def test_a_body_that_is_not_an_object_is_one_mismatch_at_the_root(body):
    """The root's pointer is the empty string, and nothing below it is reported missing."""
    read = extract(compile_shape(PLATFORM), body)
    assert [tuple(each) for each in read.mismatched] == [("", "an object", body)]
    assert read.missing == ()
    assert read.slots == {}


def test_further_items_of_a_list_are_read_too():
    """The first item with a code counts, `more` has the others in order, and departures of all of
    them are reported.
    """
    node = compile_shape(REGISTRY)
    read = extract(
        node,
        {"errors": [{"code": "A", "message": "a"}, {"code": "B"}, {"code": "C", "message": "c"}]},
    )
    assert read.slots == {"code": "A", "message": "a"}
    assert [each.slots for each in read.more] == [{"code": "B"}, {"code": "C", "message": "c"}]
    assert [each.where for each in read.more] == [
        {"code": "/errors/1/code"},
        {"code": "/errors/2/code", "message": "/errors/2/message"},
    ]
    assert read.missing == ("/errors/1/message",)
    assert extract(node, {"errors": []}).mismatched[0].expected == "a list of at least one item"


@given(
    st.lists(st.sampled_from([{"kind": "retry"}, {"code": None, "kind": "help"}]), max_size=3),
    st.lists(st.sampled_from([{"kind": "retry"}, {"code": "B", "kind": "info"}]), max_size=3),
)
def test_the_first_item_with_a_code_counts(before: list[object], after: list[object]) -> None:
    """An item without a code does not hide the code of a later one, and is not a further error."""
    node = compile_shape({"details": [{"code?": "$code", "kind": "$kind"}], "title": "$title"})
    main = {"code": "A", "kind": "info"}
    read = extract(node, {"details": [*before, main, *after], "title": "t"})
    assert read.fits
    assert read.slots == {"code": "A", "kind": "info", "title": "t"}
    place = f"/details/{len(before)}"
    assert read.where == {"code": f"{place}/code", "kind": f"{place}/kind", "title": "/title"}
    further = [item.at for item in read.more]
    assert further == [
        f"/details/{i}" for i in range(len(before) + 1 + len(after)) if i != len(before)
    ]
    others = [item.slots for item in read.others if item.slots["code"] is not None]
    assert others == [{**item, "title": "t"} for item in after if "code" in item]


@pytest.mark.parametrize(
    ("shape", "body", "path", "expected", "got"),
    [
        (
            {"type": "https://e/${code}", "code": "$code"},
            {"type": "https://e/a", "code": "b"},
            "/code",
            '"a"',
            "b",
        ),
        (
            {"code": "$code", "type": "https://e/${code}"},
            {"type": "https://e/a", "code": "b"},
            "/type",
            '"b"',
            "a",
        ),
        ({"a": "$x", "b": "$x"}, {"a": 1, "b": True}, "/b", "1", True),
        (
            {"a": "$x", "b": "$x"},
            {"a": [{"y": 1}], "b": [{"y": True}]},
            "/b",
            "the same value as elsewhere",
            [{"y": True}],
        ),
    ],
)
def test_a_slot_with_two_values_is_a_mismatch(shape, body, path, expected, got):
    """One slot has one value, wherever it stands."""
    read = extract(compile_shape(shape), body)
    assert [tuple(each) for each in read.mismatched] == [(path, expected, got)]


def test_a_value_read_on_its_own_is_compared_as_json_from_then_on():
    """The string it agreed with in a template no longer counts."""
    node = compile_shape({"t": "e/${x}", "a": "$x", "b": "$x"})
    assert extract(node, {"t": "e/1", "a": "1", "b": "1"}).fits
    assert [each.path for each in extract(node, {"t": "e/1", "a": "1", "b": 1}).mismatched] == [
        "/b"
    ]


def test_a_slot_of_its_own_says_more_than_one_in_a_string():
    """A number that also stands inside a string is read as the number, whichever comes first, and
    agrees with it.
    """
    for shape in (
        {"type": "e/${status}", "status": "$status"},
        {"status": "$status", "type": "e/${status}"},
    ):
        read = extract(compile_shape(shape), {"type": "e/404", "status": 404})
        assert read.fits
        assert read.slots == {"status": 404}
        assert read.where == {"status": "/status"}


@pytest.mark.parametrize(
    ("template", "text", "slots"),
    [
        ("ab${x}bc", "abbc", {"x": ""}),
        ("ab${x}bc", "abc", None),
        ("${x}-${y}-z", "a-b-z", {"x": "a", "y": "b"}),
        ("${x}-${y}-z", "a-z", None),
        ("${x}-${y}", "a-b-c", {"x": "a", "y": "b-c"}),
        ("${x}.${y}.json", "a.b.json.json", {"x": "a", "y": "b.json"}),
        ("a.${x}", "a+b", None),
        ("${x}", "two\nlines", {"x": "two\nlines"}),
        ("${x}!", 5, None),
    ],
)
def test_a_template_is_read_from_the_left(template, text, slots):
    """Each slot takes as little as lets the rest match; texts neither overlap nor mean anything but
    themselves.
    """
    read = extract(compile_shape(template), text)
    assert (read.slots if read.fits else None) == slots


def splits(texts, text):
    """Every way to read a text between the texts of a string, slowly."""
    if not text.startswith(texts[0]):
        return
    rest = text[len(texts[0]) :]
    if len(texts) == 1:
        if not rest:
            yield []
        return
    for end in range(len(rest) + 1):
        yield from ([rest[:end], *more] for more in splits(texts[1:], rest[end:]))


@given(
    st.lists(st.text("ab", min_size=1, max_size=2), min_size=2, max_size=2),
    st.text("ab", max_size=1),
    st.permutations(["code", "x", "y"]),
    st.text("abc", max_size=9),
)
def test_a_code_in_a_string_is_as_short_as_can_be(separators, last, slots, text):
    """A string is read exactly if it can be, and of all ways to read it one with the shortest code
    counts, so that a message before the code may have the separator in it.
    """
    texts = ["", *separators, last]
    template = "".join(f"{before}${{{slot}}}" for before, slot in zip(texts, slots, strict=False))
    read = extract(compile_shape(template + last), text)
    ways = [*splits(texts, text)]
    assert read.fits == bool(ways)
    if ways:
        assert [read.slots[slot] for slot in slots] in ways
        at = slots.index("code")
        assert len(read.slots["code"]) == min(len(way[at]) for way in ways)


def test_the_time_to_read_a_string_is_linear():
    """A long text of separators is read at once, wherever the code is."""
    text = "(" * 200_000
    for template in ("${x}(${code}", "${x}(${code}((${y}", "${x}(${code}((${y}((("):
        assert extract(compile_shape(template), text).fits


def test_a_spread_with_nothing_left_is_absent():
    """A refusal without details has no details, rather than empty ones."""
    assert extract(compile_shape(THEODOSIA), {"error": "x"}).slots == {"code": "x"}


def test_numbers_are_compared_as_json_compares_them():
    """1.0 is 1, and neither is true."""
    node = compile_shape({"v": 1})
    assert extract(node, {"v": 1.0}).fits
    assert not extract(node, {"v": True}).fits
    assert not extract(compile_shape({"v": False}), {"v": 0}).fits


def test_optional_members_are_left_out_and_required_ones_are_not():
    """None leaves an optional member out and is null in a required one; an absent required slot is
    an error with its place.
    """
    assert render(compile_shape({"a?": "$a", "b": "$b"}), {"a": None, "b": None}) == {"b": None}
    assert render(compile_shape({"x?": {"a": "$a", "k": 1}, "y?": 5}), {}) == {"y": 5}
    assert render(compile_shape({"t?": "${a} of ${b}"}), {"a": "1", "b": None}) == {}
    with pytest.raises(MissingSlot, match="'code', which /error/class needs") as caught:
        render(compile_shape(AILERON), {})
    assert (caught.value.slot, caught.value.path) == ("code", "/error/class")
    with pytest.raises(MissingSlot):
        render(compile_shape({"x?": {"a": "$a", "b": "$b"}}), {"a": 1})


@pytest.mark.parametrize(
    ("shape", "slots", "problem"),
    [
        ({"t": "x ${a}"}, {"a": [1]}, "stands inside a string"),
        ({"...": "$d"}, {"d": [1]}, "has to be an object"),
        ({"a": 1, "...": "$d"}, {"d": {"a": 2}}, "also called 'a'"),
        ({"a?": "$a", "...": "$d"}, {"d": {"a": 2}}, "also called 'a'"),
    ],
)
def test_a_value_that_cannot_stand_in_its_place_is_refused(shape, slots, problem):
    """Nothing is rendered that would read back as something else."""
    with pytest.raises(ValueError, match=problem):
        render(compile_shape(shape), slots)


@pytest.mark.parametrize(
    ("data", "node"),
    [
        ("$code", Slot("code")),
        ("$$code", Literal("$code")),
        ("$$", Literal("$")),
        ("$$$$", Literal("$$")),
        ("$${code}", Literal("${code}")),
        ("${code}", Template(("", ""), ("code",))),
        ("a ${x}, $$${y}", Template(("a ", ", $", ""), ("x", "y"))),
        ("${x} $$", Template(("", " $"), ("x",))),
        ("", Literal("")),
        ({"use": "$use"}, compile_shape({"use": "$use", "...": "$rest"})._replace(spread=None)),
        ([None], Array(Literal(None))),
        ({}, Object(())),
    ],
)
def test_every_way_of_writing_has_one_meaning(data, node):
    """The table of the module's documentation, and the escapes it implies."""
    assert compile_shape(data) == node


@pytest.mark.parametrize(
    ("data", "path", "problem"),
    [
        ({"a": {"b?": "cost $5"}}, ("a", "b?"), "a dollar is `$$`"),
        ({"a": "$"}, ("a",), "a dollar is `$$`"),
        ({"a": "$Code"}, ("a",), "a slot is"),
        ({"a": "see $code"}, ("a",), "`${name}` inside one"),
        ({"a": "x ${code"}, ("a",), "a slot is"),
        ({"a": "${}"}, ("a",), "a slot is"),
        ({"a": "${x}${y}"}, ("a",), "nothing separates ${x} from ${y}"),
        ({"a": []}, ("a",), "one element"),
        ({"a": ["$x", "$y"]}, ("a",), "one element"),
        ({"a": [{"b": [1, 2]}]}, ("a", 0, "b"), "one element"),
        ({"...": {"a": "$x"}}, ("...",), "only a slot can be spread"),
        ({"...": "$$"}, ("...",), "only a slot can be spread"),
        ({"a": "$x", "a?": "$y"}, ("a?",), "there twice"),
        ({"a": {"use": "nope"}}, ("a", "use"), "no shape called 'nope' (known here: error_info)"),
        ({3: "x"}, ("3",), "is a string"),
        ({"a": {1, 2}}, ("a",), "no place in JSON"),
    ],
)
def test_a_shape_that_is_not_well_written_says_where_and_why(data, path, problem):
    """The path leads to the key as it is written, so that a diagnostic can underline it."""
    with pytest.raises(ShapeError) as caught:
        compile_shape(data, USES)
    assert caught.value.path == path
    assert problem in caught.value.problem
    assert isinstance(caught.value, ValueError)


def test_nodes_of_different_kinds_are_different():
    """A slot called x is not the literal "x", nor is its hash in a set."""
    assert Slot("x") != Literal("x")
    assert len({Slot("x"), Literal("x"), Slot("x")}) == 2


def test_a_walk_says_what_is_required():
    """Below an optional member nothing is required; parents come first, in order of writing."""
    node = compile_shape({"a": "$a", "b?": {"c": "${a}.${d}"}, "e": [5], "...": "$f"})
    assert [(place.path, place.node.kind, place.required, place.slots) for place in walk(node)] == [
        ("", "object", True, ("f",)),
        ("/a", "slot", True, ("a",)),
        ("/b", "object", False, ()),
        ("/b/c", "template", False, ("a", "d")),
        ("/e", "array", True, ()),
        ("/e/0", "literal", True, ()),
    ]
    assert list(slot_places(node)) == ["f", "a", "d"]
    assert [describe(place.node) for place in walk(node)] == [
        "an object",
        "any value",
        "an object",
        "a string like ${a}.${d}",
        "a list of at least one item",
        "5",
    ]


@given(st.text(alphabet="${}ab", max_size=8))
def test_any_string_compiles_or_is_refused_with_a_reason(text):
    """No string gives anything but a node or a ShapeError."""
    try:
        node = compile_shape(text)
    except ShapeError:
        return
    assume(isinstance(node, Literal))
    assert render(node, {}) == text.replace("$$", "$")
