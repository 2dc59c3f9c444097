"""Surfaces, codes under recipes, and successes: clauses that need no envelope."""

from faultspec.contract import crashes
from faultspec.contract.clauses.clause import HTTP, JSON_RPC, Clause, Requirement
from faultspec.contract.clauses.constructs import HTTP_SURFACE, any_surface, surface_sources

CLAUSES = (
    Clause(
        address="surface/known",
        title="An error belongs to a declared surface",
        why="No client can be written for an error that nobody described.",
        occasion="Every error.",
        reads=("transport", "operation", "method", "status"),
        sources=surface_sources(lambda surface: surface.batch is None),
    ),
    Clause(
        address="surface/repeated",
        title="Each surface that repeats another carries the same error once",
        why="A window or process that listens only there goes on as if nothing had failed.",
        occasion="An error with a declared code on a surface that another, observed one repeats.",
        reads=("sequence", "surface", "code", "body"),
        requires=(any_surface("no surface has `repeats`", lambda surface: surface.repeats),),
        sources=surface_sources(lambda surface: surface.repeats),
    ),
    Clause(
        address="service/alive",
        title="The service answers",
        why="A service that does not answer cannot be judged.",
        occasion="Every run.",
        reads=("sequence",),
    ),
    Clause(
        address=crashes.CLAUSE,
        title="The service does not crash",
        why="The caller cannot act on a failure that nobody foresaw, and its data may be lost.",
        occasion=(
            "Every answer, unless a recipe, a fault switch or a scripted upstream makes the "
            "service fail."
        ),
        reads=("transport", "status", "code"),
        sources=lambda taxonomy: (
            (taxonomy.undeclared.source,) if taxonomy.undeclared is not None else ()
        ),
    ),
    Clause(
        address="provoke/code",
        title="A recipe provokes the code it names",
        why="A code that cannot be provoked is a code that nobody has tested.",
        occasion="Every recipe of the configuration.",
        reads=("sequence", "code"),
    ),
    Clause(
        address="provoke/expected",
        title="The answer to a recipe has what the recipe says beside its code",
        why="A client acts on the details and headers of the code, not on the code alone.",
        occasion="A recipe with `expect` that provoked its code, or one with `notifications`.",
        presupposes=("provoke/code",),
        reads=("sequence", "request", "header-values", "detail-values", "body"),
        transports=HTTP | JSON_RPC,
    ),
    Clause(
        address="provoke/parallel",
        title="Of several requests at once, as many succeed as the recipe says",
        why="A service that checks before it writes sells the last seat twice.",
        occasion="A recipe with `parallel`.",
        reads=("sequence", "request", "status"),
        transports=HTTP,
    ),
    Clause(
        address="provoke/state",
        title="A job ends within the time that the recipe gives it",
        why="A client waits for ever for a job that has failed without a trace.",
        occasion="A recipe with a step that waits for a state.",
        reads=("sequence", "body", "elapsed"),
    ),
    Clause(
        address="success/content",
        title="The content of a success is of the format that it names",
        why="The client cannot read what it asked for, though the status says that all is well.",
        occasion="A success over HTTP whose media type is of JSON, JSON lines, XML or CBOR.",
        reads=("status", "header-values", "shape", "body"),
        requires=(HTTP_SURFACE,),
        transports=HTTP,
    ),
    Clause(
        address="success/requires",
        title="A success has its required members",
        why="A client that continues from the answer finds nothing to continue with.",
        occasion="A success on a surface with `success` members.",
        reads=("surface", "shape", "body"),
        requires=(any_surface("no surface has `success`", lambda surface: surface.success),),
        sources=lambda taxonomy: (
            member.source
            for surface in taxonomy.surfaces.values()
            for member in surface.success.values()
        ),
    ),
    Clause(
        address="rendering/form",
        title="An error as text has the form of its rendering",
        why="A reader without the envelope, such as a model, finds neither code nor id.",
        occasion=(
            "A text anywhere in an answer that begins as a rendering does, or has its constants, "
            "and names a code."
        ),
        reads=("body", "request"),
        needs=("body",),
        requires=(
            Requirement("the taxonomy has no `renderings`", lambda each: bool(each.renderings)),
        ),
        sources=lambda taxonomy: (rendering.source for rendering in taxonomy.renderings.values()),
    ),
)
