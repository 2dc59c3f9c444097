"""The parts of a draft that provoke failures: fault switches, recipes and upstreams.

Recipes and upstreams are comments: a person chooses the request that fails.
"""

import re
from collections.abc import Iterable, Iterator

from faultspec.contract.clauses import upstream_policy
from faultspec.contract.model import Contract, build_contract
from faultspec.exchange.model import Exchange, Request, Response
from faultspec.language.model import Code, Taxonomy
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.run.draft_resources import draft_body
from faultspec_conformance.run.draft_texts import quote_scalar, write_flow
from faultspec_conformance.session.meanings import names_invalid_input
from faultspec_conformance.session.sampling import only_branch

#: Statuses that the probes provoke on any service with a route, a body and a token.
_GENERAL = frozenset({400, 401, 404, 405, 406, 413, 415})

#: Conflicts with what exists already; others are about the state of a resource.
_OF_DUPLICATES = re.compile(
    r"duplicat|exist|taken|unique|in.use|already (registered|used)|conflict", re.IGNORECASE
)

#: Calls of a drafted upstream. A person can add others in the same way.
_CALLS = 3

#: Methods that a call upstream may have, the likely ones first.
_METHODS = ("POST", "PUT", "PATCH", "GET")

#: Statuses of failures of another service (RFC 9110, sections 15.6.3 and 15.6.5).
_OF_UPSTREAMS = (502, 504)

_REASON = "   # or {not_provokable: the reason}"


def draft_recipes(description: Description, taxonomy: Taxonomy) -> Iterator[str]:
    """The lines about fault switches and recipes."""
    contract = build_contract(taxonomy)
    wanted = [code for code in taxonomy.shared_live_codes() if not _is_general(code, description)]
    switched: dict[str, dict[str, str | int]] = {}
    for code in wanted:
        header = _switch(description, code)
        if header is not None:
            switched.setdefault(header, {})[code.name] = code.wire
    if switched:
        yield "# The document has a header that makes operations fail. Not all need to obey it."
        yield "faults:"
        for header, values in switched.items():
            yield f"  - {{header: {quote_scalar(header)}, values: {write_flow(values)}}}"
        yield ""
    yield (
        "# Codes that no general probe brings about: write a recipe, or why it is impossible "
        "(`not_provokable`)."
    )
    limited = _limited_operation(description)
    active = [code for code in wanted if limited is not None and code.http.default == 429][:1]
    yield "provoke:" if active else "# provoke:"
    for code in active:
        assert limited is not None
        yield f"  # {limited.name} alone documents 429; if its limit is higher, raise `at_most`"
        recipe = f"request: {quote_scalar(limited.name)}, repeat: {{until: 429, at_most: 60}}"
        yield f"  {code.name}: {{{recipe}}}"
    known = {name for values in switched.values() for name in values}
    known |= {code.name for code in active}
    renderings = tuple(taxonomy.renderings)
    for code in wanted:
        if code.name not in known:
            yield from _recipes(contract, taxonomy, description, code, renderings=renderings)
            renderings = ()  # one code shows how the others are written


def draft_upstreams(description: Description, taxonomy: Taxonomy) -> Iterator[str]:
    """The lines about a scripted upstream, if the taxonomy declares how its services retry, or has
    a code for the failure of another service.
    """
    policy = upstream_policy(taxonomy)
    upstream = taxonomy.upstream
    status = (upstream.status if upstream is not None else None) or "status"
    live = tuple(taxonomy.shared_live_codes())
    if policy is None:
        codes = [code for code in live if any(map(code.http.allows, _OF_UPSTREAMS))]
    else:
        codes = [taxonomy.codes[name] for name in policy.eligible if name in taxonomy.codes]
        codes = codes or [code for code in live if code.retry == policy.name]
    if not codes:
        return
    fails = [
        f"{quote_scalar(code.name)}: {'[503, 429, 4xx]' if status in code.details else 'closed'}"
        for code in codes
    ]
    contract = build_contract(taxonomy)
    calls = list(
        dict.fromkeys(
            operation.name
            for code in codes
            for operation in _operations(contract, description, code)
        )
    )
    if policy is None:
        yield "# Some codes tell that another service failed. The suite plays such a service:"
    else:
        yield (
            "# The taxonomy declares how the service retries its calls to other services. The "
            "suite plays such a service:"
        )
    yield "# it fails, and counts what arrives. `target` also needs `command`, which starts yours."
    yield "# upstreams:"
    yield "#   provider:"
    yield "#     env: PROVIDER_URL   # the variable in which your service finds the address"
    yield "#     calls:   # requests that make your service call it, also several times"
    for name in calls[:_CALLS] or ["POST /path"]:
        operation = next((one for one in description.operations if one.name == name), None)
        yield f"#       - {{request: {quote_scalar(name)}{_body(description, operation)}}}"
    yield f"#     fails: {{{', '.join(fails) or 'CODE: [503, closed]'}}}"
    yield "#     answer: {}   # the body of a good answer"
    yield ""


def _recipes(
    contract: Contract,
    taxonomy: Taxonomy,
    description: Description,
    code: Code,
    *,
    renderings: Iterable[str],
) -> Iterator[str]:
    """The recipes of a code: one, or one for each boundary, and one for each rendering."""
    base = _recipe(contract, description, code)
    action = ", action: {request: PUT /path}" if code.retriable.until else ""
    rows = [
        f"{base}{action}, expect: {{slots: {{boundary: {quote_scalar(boundary)}}}}}"
        for boundary in (code.boundaries if len(code.boundaries) > 1 else ())
        if any("boundary" in envelope.slots for envelope in taxonomy.envelopes.values())
    ] or [base + action]
    rows += [f"{base}, rendering: {quote_scalar(name)}" for name in renderings]
    is_sure = code.http.default in (403, 429)
    note = "" if is_sure else _REASON
    if len(rows) == 1:
        yield f"  # {code.name}: {{{rows[0]}}}{note}"
        return
    yield f"  # {code.name}:{note}"
    yield from (f"  #   - {{{row}}}" for row in rows)


def _recipe(contract: Contract, description: Description, code: Code) -> str:
    """The members of a recipe that begins with the likeliest request."""
    status = code.http.default or next(iter(code.http.allowed_statuses()), 500)
    operations = list(_operations(contract, description, code))
    documented = next(
        (operation for operation in description.operations if str(status) in operation.responses),
        None,
    )
    operation = documented or next(iter(operations), None)
    request = f"request: {quote_scalar(operation.name if operation is not None else 'GET /path')}"
    if status == 429:
        return f"{request}{_body(description, operation)}, repeat: {{until: 429, at_most: 60}}"
    if status == 403:
        return f"{request}{_body(description, operation)}, as: reader"
    return request + _body(description, operation)


def _operations(
    contract: Contract, description: Description, code: Code
) -> Iterator[ServiceOperation]:
    """The operations that may answer with the code by the routes of a surface that lists it, those
    that write first.
    """
    status = code.http.default or 500
    known = [operation for operation in description.operations if operation.method in _METHODS]
    for operation in sorted(known, key=lambda one: _METHODS.index(one.method)):
        request = Request(operation.method, operation.template)
        exchange = Exchange(request, Response(status), route=operation.template)
        claim = contract.claim(exchange)
        if claim is None or claim.surface.foreign:
            continue
        if claim.surface.codes is None or code.name in claim.surface.codes:
            yield operation


def _limited_operation(description: Description) -> ServiceOperation | None:
    """The one operation that documents 429, if it is a read that needs no value; else None."""
    found = [one for one in description.operations if "429" in one.responses]
    if len(found) != 1 or len(description.operations) < 2:
        return None
    [operation] = found
    needs_value = any(one.required for one in operation.parameters)
    is_read = operation.method == "GET" and not operation.placeholders
    return operation if is_read and not needs_value else None


def _body(description: Description, operation: ServiceOperation | None) -> str:
    """A sound body of an operation, as a member of a call."""
    if operation is None or operation.body is None:
        return ""
    body = draft_body(description, operation)
    return f", body: {write_flow(body)}"


def _is_general(code: Code, description: Description) -> bool:
    """Whether probes without a recipe provoke the code. A 409 is general if it is about what exists
    already, a 422 if it is about any input, and a 412 if it is about a stale validator, which the
    client fetches again.
    """
    statuses = set(code.http.allowed_statuses())
    if not statuses:
        return True  # never sent over HTTP
    able = set(_GENERAL)
    documented = {status for one in description.operations for status in one.responses}
    if "409" in documented and _OF_DUPLICATES.search(f"{code.name} {code.summary}"):
        able.add(409)
    if names_invalid_input(code):
        able.add(422)
    if code.client_action == "refetch" and (
        "412" in documented
        or any(one.parameter("If-Match", "header") is not None for one in description.operations)
    ):
        able.add(412)
    return bool(statuses & able)


def _switch(description: Description, code: Code) -> str | None:
    """The header that makes operations fail with the code: its schema lists the name of the
    code.
    """
    for operation in description.operations:
        for parameter in operation.parameters:
            values = only_branch(description.document, parameter.schema).get("enum")
            if parameter.where == "header" and isinstance(values, list) and code.wire in values:
                return parameter.name
    return None
