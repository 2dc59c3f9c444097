"""Recipes and sample calls of the configuration."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import cast

from faultspec.diagnostics.model import Path as Place
from faultspec.language import grammar
from faultspec_conformance.config.context import (
    Node,
    ReadingContext,
    child_mapping,
    header_texts,
    texts_in,
    wire_text,
)
from faultspec_conformance.config.model import (
    AwaitedState,
    ConfiguredCall,
    Expectation,
    InvalidParams,
    LimitScope,
    Parallel,
    Recipe,
    SampleCall,
    SessionConfig,
    SessionEnd,
    Step,
    Transport,
)
from faultspec_conformance.config.requests import (
    NAMES,
    PLACEHOLDER,
    check_new_values,
    query_texts,
    read_call,
    read_saved_part,
)

#: Requests of a repetition without `at_most`.
_AT_MOST = 60

#: Seconds that a state may take without `seconds`. Jobs of tests end at once.
_STATE_SECONDS = 5.0

_CALLED: frozenset[Transport] = frozenset({"jsonrpc", "stdio", "mcp"})
_RPC: frozenset[Transport] = frozenset({"jsonrpc", "stdio"})
_STREAMS: frozenset[Transport] = frozenset({"stdio"})

#: The keys of steps and of recipes that only some transports have.
_STEP_KEYS: Mapping[str, frozenset[Transport]] = {
    "notification": _RPC,
    "wait": _RPC,
    "id": _RPC,
    "may_fail": _CALLED,
}
_RECIPE_KEYS: Mapping[str, frozenset[Transport]] = {
    "fresh": _STREAMS,
    "after": _CALLED,
    "notifications": _RPC,
}
_NAMES_OF: Mapping[frozenset[Transport], str] = {
    _CALLED: "JSON-RPC and MCP",
    _RPC: "JSON-RPC",
    _STREAMS: "standard streams",
}

_WAYS = ("request", "steps", "not_provokable")


def path_shape(path: str) -> str:
    """A path without its query, with anonymous placeholders, ending in a slash."""
    return PLACEHOLDER.sub("{}", path.partition("?")[0]).rstrip("/") + "/"


def read_recipes(context: ReadingContext, data: Node) -> Iterator[Recipe]:
    """The recipes by code; a code may have several."""
    for code, value in data.items():
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield _read_recipe(context, code, item, ("provoke", code, index))
        else:
            yield _read_recipe(context, code, cast(Node, value), ("provoke", code))


def _read_recipe(context: ReadingContext, code: str, data: Node, place: Place) -> Recipe:
    ways = [way for way in _WAYS if way in data]
    if len(ways) != 1:
        found = " and ".join(f"`{way}`" for way in ways) or "none of them"
        context.report(
            "conflicting-keys" if ways else "missing-key",
            place,
            f"the recipe for `{code}` needs one of `request`, `steps` and `not_provokable`; "
            f"it has {found}",
            hint="keep one of them"
            if ways
            else "add `request: METHOD /path`, `steps:`, or `not_provokable:` with the reason",
            needs=[(*place, way) for way in _WAYS],
        )
        return Recipe(code, place=place)
    expect = child_mapping(data, "expect")
    status = data.get("status", expect.get("status"))
    _report_http_keys(context, data, place)
    steps: tuple[Step, ...] = ()
    if "request" in data:
        steps = (_read_step(context, data, place),)
    elif "steps" in data:
        steps = _read_steps(context, data, place)
    if status is None and steps:
        status = steps[-1].status
    _check_names(context, data, place)
    if steps and all(step.notification for step in steps):
        message = f"the recipe for `{code}` has notifications alone, which get no answer"
        hint = "add a step that gets one, such as the call that shows what they did"
        context.report("missing-key", place, message, hint=hint)
    if "surface" in data and status is None:
        message = f"the recipe for `{code}` names a surface and no status"
        context.report("missing-key", place, message, hint="add `status: 409`")
    reason = data.get("not_provokable")
    return Recipe(
        code=code,
        steps=steps,
        not_provokable=str(reason) if reason is not None else None,
        status=status if isinstance(status, int) else None,
        place=place,
        values=_read_values(context, data, place),
        action=tuple(_read_action(context, data, place)),
        surface=cast(str | None, data.get("surface")),
        rendering=cast(str | None, data.get("rendering")),
        fresh=data.get("fresh") is True,
        after=tuple(
            _read_step(context, node, (*place, "after", index), is_last=False)
            for index, node in enumerate(cast(list[Node], data.get("after", [])))
        ),
        notifications=tuple(cast(list[str], data.get("notifications", []))),
        expect=Expectation(
            slots=child_mapping(expect, "slots"),
            details=child_mapping(expect, "details"),
            headers={
                name: None if value is None else wire_text(value)
                for name, value in child_mapping(expect, "headers").items()
            },
            upstream_calls=cast(Mapping[str, int], child_mapping(expect, "upstream_calls")),
        ),
    )


#: What only an answer over HTTP can have.
_EXPECTED_OVER_HTTP = ("status", "headers", "upstream_calls")


def _report_http_keys(context: ReadingContext, data: Node, place: Place) -> None:
    """Report keys of a recipe that belong to another transport. Those of a call are reported with
    it.
    """
    _report_foreign_keys(context, data, place, _RECIPE_KEYS)
    if context.transport == "http":
        return
    expect = child_mapping(data, "expect")
    own = ("action", "surface", "rendering", *(() if "request" in data else ("status",)))
    found = [(*place, key) for key in own if key in data]
    found += [(*place, "expect", key) for key in _EXPECTED_OVER_HTTP if key in expect]
    for at in found:
        message = f"`{at[-1]}` belongs to recipes over HTTP"
        context.report("misplaced-key", at, message, hint="remove the key")


def _report_foreign_keys(
    context: ReadingContext, data: Node, place: Place, keys: Mapping[str, frozenset[Transport]]
) -> None:
    for key, users in keys.items():
        if key in data and context.transport not in users:
            message = f"`{key}` belongs to recipes over {_NAMES_OF[users]}"
            context.report("misplaced-key", (*place, key), message, hint="remove the key")


def _read_values(context: ReadingContext, data: Node, place: Place) -> Node:
    """The values that a recipe makes up."""
    values = child_mapping(data, "values")
    at = (*place, "values")
    context.reject_variables(values, at)
    check_new_values(context, values, at)
    known = {"unique", *context.constants}
    for name, value in values.items():
        for where, text in texts_in(value, (*at, name)):
            for used in NAMES.findall(text):
                _check_saved(context, used, known, where)
        known.add(name)
    return values


def _read_steps(context: ReadingContext, data: Node, place: Place) -> tuple[Step, ...]:
    """The steps of a recipe. The identity, headers and query of the recipe are their defaults."""
    for key in ("body", "raw", "params", "repeat", "save", "parallel", *_STEP_KEYS):
        if key in data:
            message = f"`{key}` belongs to one of the steps, not to the recipe"
            hint = f"move `{key}` into its step"
            context.report("conflicting-keys", (*place, key), message, hint=hint)
    data = context.expand_body(data, place)
    identity = context.known_identity(data, place)
    recipe_call = ConfiguredCall(
        "GET", "/", headers=context.call_headers(data, place), query=query_texts(data)
    )
    context.secrets += context.variables(header_texts(data).values())
    steps = []
    nodes = cast(list[Node], data["steps"])
    for index, node in enumerate(nodes):
        is_last = index == len(nodes) - 1
        step = _read_step(context, node, (*place, "steps", index), is_last=is_last)
        call = replace(
            step.call,
            headers=_merge_headers(recipe_call.headers, step.call.headers),
            query={**recipe_call.query, **step.call.query},
        )
        steps.append(replace(step, identity=step.identity or identity, call=call))
    return tuple(steps)


#: Keys of a step that are about its answer.
_OF_ANSWERS = ("id", "wait", "save", "repeat", "may_fail")


def _read_step(context: ReadingContext, data: Node, place: Place, *, is_last: bool = True) -> Step:
    repeat = child_mapping(data, "repeat")
    until, at_most = repeat.get("until"), repeat.get("at_most", _AT_MOST if repeat else 1)
    _check_repeat(context, repeat, (*place, "repeat"))
    parallel = cast(Mapping[str, int], child_mapping(data, "parallel"))
    if parallel and (context.transport != "http" or repeat or not is_last):
        message = "`parallel` belongs to the last step of a recipe over HTTP, without `repeat`"
        context.report("misplaced-key", (*place, "parallel"), message, hint="remove the key")
    _report_foreign_keys(context, data, place, _STEP_KEYS)
    for key in _OF_ANSWERS if data.get("notification") is True else ():
        if key in data:
            message = f"a notification gets no answer, so `{key}` has no meaning"
            context.report("misplaced-key", (*place, key), message, hint="remove the key")
    status = data.get("status")
    return Step(
        call=read_call(context, data, place, in_recipe=True),
        identity=context.known_identity(data, place),
        until=until if isinstance(until, int) else None,
        at_most=cast(int, at_most),
        save={
            name: read_saved_part(context, value, (*place, "save", name))
            for name, value in child_mapping(data, "save").items()
        },
        status=status if isinstance(status, int) else None,
        parallel=Parallel(parallel["requests"], parallel.get("succeed", 1)) if parallel else None,
        state=_read_state(context, repeat, (*place, "repeat")),
        notification=data.get("notification") is True,
        waits=data.get("wait") is not False,
        id=cast(str | None, data.get("id")),
        may_fail=data.get("may_fail") is True,
        scope=cast(LimitScope | None, repeat.get("scope")),
    )


def _check_repeat(context: ReadingContext, repeat: Node, place: Place) -> None:
    """Report keys of a repetition that are missing or misplaced."""
    until = repeat.get("until")
    if repeat and context.transport == "http" and "until" not in repeat:
        context.report(
            "missing-key",
            place,
            "`repeat` lacks the key `until`",
            hint="add `until: 429`",
            needs=((*place, "until"),),
        )
    if isinstance(until, int) and context.transport != "http":
        message = "`until` is an HTTP status; here the code ends the repetition"
        context.report("misplaced-key", (*place, "until"), message, hint="remove the key")
    if "scope" in repeat and not isinstance(until, int):
        message = "`scope` belongs to a repetition until the status of a limit"
        hint = "write `until: 429`, or remove the key"
        needs = ((*place, "until"),)
        context.report("misplaced-key", (*place, "scope"), message, hint=hint, needs=needs)
    if "seconds" in repeat and not isinstance(until, dict):
        message = "`seconds` belongs to a repetition until a state"
        hint = "write `until: {/state: done}`, or remove the key"
        needs = ((*place, "until"),)
        context.report("misplaced-key", (*place, "seconds"), message, hint=hint, needs=needs)


def _read_state(context: ReadingContext, repeat: Node, place: Place) -> AwaitedState | None:
    """The state that ends a repetition; None if it has none."""
    until = repeat.get("until")
    if not isinstance(until, dict):
        return None
    values = {
        str(pointer): tuple(value) if isinstance(value, list) else (value,)
        for pointer, value in until.items()
    }
    return AwaitedState(values, context.positive_number(repeat, "seconds", place, _STATE_SECONDS))


def _read_action(context: ReadingContext, data: Node, place: Place) -> Iterator[Step]:
    """The steps of the action of a recipe. The identity of the recipe is their default."""
    identity = data.get("as")
    for at, node in _actions(data, place):
        step = _read_step(context, node, at, is_last=False)
        yield replace(step, identity=step.identity or cast(str | None, identity))


def _actions(data: Node, place: Place) -> list[tuple[Place, Node]]:
    """The steps of the action of a recipe, each with its place."""
    written = data.get("action", [])
    if isinstance(written, list):
        return [((*place, "action", index), node) for index, node in enumerate(written)]
    return [
        (
            (*place, "action"),
            cast(Node, {"request": written} if isinstance(written, str) else written),
        )
    ]


def _merge_headers(
    defaults: Mapping[str, str | None], headers: Mapping[str, str | None]
) -> dict[str, str | None]:
    """Headers with defaults; names are compared without case."""
    names = {name.lower() for name in headers}
    kept = {name: value for name, value in defaults.items() if name.lower() not in names}
    return {**kept, **headers}


def _check_names(context: ReadingContext, data: Node, place: Place) -> None:
    """Report names that no earlier step has saved. A placeholder may be the id of a resource
    too.
    """
    steps = [(place, data)]
    if "steps" in data:
        nodes = enumerate(cast(list[Node], data["steps"]))
        steps = [((*place, "steps", index), node) for index, node in nodes]
    steps += _actions(data, place)
    after = enumerate(cast(list[Node], data.get("after", [])))
    steps += [((*place, "after", index), node) for index, node in after]
    _check_step_names(context, steps, {*child_mapping(data, "values")})


def _check_step_names(
    context: ReadingContext, steps: Iterable[tuple[Place, Node]], values: set[str]
) -> None:
    """Report names in steps that no earlier step has saved. ``values``: names that all may use."""
    saved = {"unique", *context.constants, *values}
    for at, step in steps:
        path = ""
        if context.transport == "http":
            path = str(step.get("request", "")).partition(" ")[2].strip()
        texts = [
            text
            for key in ("query", "headers", "body", "raw", "params", "repeat")
            for text in texts_in(step.get(key), (*at, key))
        ]
        for where, text in [((*at, "request"), path), *texts]:
            for name in NAMES.findall(text):
                _check_saved(context, name, saved, where)
        if not _is_of_resource(context, path):
            for name in PLACEHOLDER.findall(NAMES.sub("", path)):
                _check_saved(context, name, saved, (*at, "request"), placeholder=True)
        if (*at, "save") in context.lost:
            return
        saved |= child_mapping(step, "save").keys()
        saved |= {str(step["id"])} if "id" in step else set()
        saved |= {str(lost[-1]) for lost in context.lost if lost[:-1] == (*at, "save")}


def check_call_names(context: ReadingContext, data: object, place: Place) -> None:
    """Report names in a call without earlier steps that stand for nothing. A placeholder may be the
    id of a resource.
    """
    _check_names(context, cast(Node, {"request": data} if isinstance(data, str) else data), place)


def _check_saved(
    context: ReadingContext, name: str, saved: set[str], place: Place, *, placeholder: bool = False
) -> None:
    if name in saved or ":" in name or "." in name:
        return  # `check_new_values` reports unknown new values; resources are known later
    message = f"`{name}` is not saved by an earlier step"
    if placeholder:
        message += ", and it is not the id of a resource"
    hint = (
        grammar.closest(name, tuple(sorted(saved)))
        or f"save it in an earlier step: `save: {{{name}: /id}}`"
    )
    context.report("unknown-name", place, message, key=False, hint=hint)


def _is_of_resource(context: ReadingContext, path: str) -> bool:
    """Whether a path leads to or below an item of a resource, which fills its placeholders.

    Assumed to be so if no resource is declared: resources are inferred later.
    """
    shape = path_shape(path)
    return context.items is None or any(item in shape for item in context.items)


def read_samples(context: ReadingContext, data: Node) -> Iterator[SampleCall]:
    """The calls that succeed, by name."""
    for name, value in data.items():
        place: Place = ("calls", name)
        node = cast(Node, {"request": value} if isinstance(value, str) else value)
        at = (*place, "invalid")
        invalid = cast(list[object], context.expand_value(node.get("invalid", []), at))
        before = read_steps(context, node.get("before", []), (*place, "before"))
        saved = {name for step in before for name in (*step.save, step.id) if name is not None}
        known = {"unique", *context.constants, *saved}
        for key in ("params", "invalid"):
            for path, text in texts_in(node.get(key), (*place, key)):
                for used in NAMES.findall(text):
                    _check_saved(context, used, known, path)
        identity = context.known_identity(node, place)
        is_named = context.transport != "http"
        yield SampleCall(
            name=name,
            call=read_call(context, node, place) if is_named else ConfiguredCall("POST", "/"),
            identity=identity,
            invalid=tuple(map(_read_invalid, invalid)),
            safe=node.get("safe") is True,
            before=before,
        )


def _read_invalid(written: object) -> InvalidParams:
    """Params that the service refuses, perhaps with the code of the refusal beside them."""
    if isinstance(written, dict) and written.keys() == {"params", "code"}:
        return InvalidParams(written["params"], cast(str | int, written["code"]))
    return InvalidParams(written)


def read_steps(context: ReadingContext, data: object, place: Place) -> tuple[Step, ...]:
    """Steps beside those of recipes, in which names that no earlier one has saved are reported."""
    nodes = [((*place, index), node) for index, node in enumerate(cast(list[Node], data))]
    _check_step_names(context, nodes, set())
    return tuple(_read_step(context, node, at, is_last=False) for at, node in nodes)


def read_session(context: ReadingContext, data: object) -> SessionConfig:
    """The start and the end of each process."""
    place: Place = ("session",)
    if isinstance(data, list):
        return SessionConfig(read_steps(context, data, place))
    node = cast(Node, data)
    written, at = node.get("end", []), (*place, "end")
    ends = (
        [((*at, index), end) for index, end in enumerate(written)]
        if isinstance(written, list)
        else [(at, written)]
    )
    return SessionConfig(
        start=read_steps(context, node.get("start", []), (*place, "start")),
        replies=child_mapping(node, "replies"),
        ends=tuple(
            SessionEnd(
                steps=read_steps(context, end.get("steps", []), (*where, "steps")),
                exit_code=cast(int | None, end.get("exit_code")),
                seconds=context.positive_number(end, "seconds", where, 5.0),
            )
            for where, end in cast(list[tuple[Place, Node]], ends)
        ),
    )
