"""Targets: the outputs of a compile, each with its templates.

A target turns the taxonomy into a view (frozen rows in which every decision has been made) and its
templates loop over it. The shipped ones are the literal table ``SHIPPED``; a folder of templates
with a ``target.yaml`` adds another.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from faultspec.diagnostics.model import Diagnostic
from faultspec.language.model import Taxonomy
from faultspec.targets.model import Model

#: The lists of the model that a template can be rendered once for each item of.
LISTS = ("codes", "envelopes", "statuses", "domains", "boundaries", "actions", "policies")


TargetSettings = Mapping[str, Mapping[str, str]]
"""The settings of targets in the project file, by the name of the target."""

NO_SETTINGS: TargetSettings = MappingProxyType({})


class TargetError(Exception):
    """A target, a template, an output path or the output folder is not usable; ``diagnostic`` says
    which and why.
    """

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Output(NamedTuple):
    """A template and the path, below the target's folder, of the file it becomes; the path is a
    template too.

    ``each``: a list of the model, e.g. ``codes``, or ``view.`` and a list of the view; the template
    is then rendered once for each of its items, as ``each``.
    """

    template: str
    path: str
    each: str | None = None


class Context(NamedTuple):
    """The names that templates see. ``model``: the taxonomy as versioned rows. ``view``: the rows
    of the target.
    """

    model: Model
    view: object


class CompileTarget(NamedTuple):
    """A name, the outputs, and the function that makes the view.

    ``view``: ``module:function`` of ``(taxonomy, model)``, or None for the model itself. If the
    function returns None, the target has no files for the taxonomy.

    ``copied``: ``module:function`` of the view that yields files taken over verbatim, as (path,
    origin). ``packaged``: the member of the view with the name of the folder of its sources.

    ``tried_codes``: the most codes whose output is known to compile or to be imported
    (``tests/targets/test_large_taxonomies.py``); None where nothing compiles the output.

    ``named_only``: it is compiled where it is named, not where all targets are.

    ``configured``: ``view`` takes its settings of the project file too.
    """

    name: str
    summary: str
    outputs: tuple[Output, ...]
    view: str | None = None
    copied: str | None = None
    packaged: str | None = None
    tried_codes: int | None = None
    named_only: bool = False
    configured: bool = False

    def context(
        self, taxonomy: Taxonomy, model: Model, settings: TargetSettings = NO_SETTINGS
    ) -> Context | None:
        """The values for this target's templates, or None if it has no files.

        ``settings``: of the project file, by target.
        """
        given = (settings.get(self.name, {}),) if self.configured else ()
        view = model if self.view is None else _function(self.view)(taxonomy, model, *given)
        return None if view is None else Context(model, view)

    def package(self, context: Context) -> str:
        """The folder below the target's folder that people import; empty if there is none."""
        return "" if self.packaged is None else str(getattr(context.view, self.packaged))

    def copies(self, context: Context) -> Iterator[tuple[str, Path]]:
        """Files taken over verbatim: path below the target's folder, and origin."""
        if self.copied is not None:
            yield from _function(self.copied)(context.view)


def _function(address: str) -> Callable[..., Any]:
    module, _, name = address.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


#: The size of the largest taxonomy that the tests compile.
_TRIED_CODES = 10_000


def _shipped_target(
    name: str,
    summary: str,
    *outputs: Output,
    packaged: str | None = None,
    named_only: bool = False,
    configured: bool = False,
) -> CompileTarget:
    """A target whose view is that of its module. One with a package has files taken over
    verbatim.
    """
    module = f"faultspec.targets.{name}"
    return CompileTarget(
        name=name,
        summary=summary,
        outputs=outputs,
        view=f"{module}:view",
        copied=f"{module}:runtime_files" if packaged else None,
        packaged=packaged,
        tried_codes=_TRIED_CODES if packaged else None,
        named_only=named_only,
        configured=configured,
    )


_PYTHON_MODULES = (
    *("__init__", "asgi", "boundary", "codes", "details", "errors", "openapi", "retry"),
    *("retrying", "wire", "wsgi"),
    *("clients/__init__", "clients/aiohttp", "clients/httpx", "clients/requests"),
)

_PYTHON_FRAMEWORKS = (
    *("__init__", "aiohttp", "django", "drf", "fastapi", "flask", "litestar", "quart"),
    *("self_test", "starlette"),
)

_TYPESCRIPT_MODULES = ("index", "catalog", "codes", "details", "errors", "retry", "wire")

_TYPESCRIPT_PARTS = {
    "view.exceptions": ("exceptions", "retrying", "clients/axios", "clients/fetch"),
    "view.servers": (
        *("boundary", "render"),
        *("frameworks/express", "frameworks/fastify", "frameworks/hono"),
        *("frameworks/nest", "frameworks/node", "frameworks/self-test"),
    ),
}

_GO_FILES = (
    *("catalog.json", "catalog.go", "client.go", "codes.go", "errors.go", "ids.go", "parse.go"),
    *("plan.go", "render.go", "retry.go", "server.go", "shape.go", "values.go"),
)

_JAVA_CLASSES = (
    *("BoundaryOptions", "Catalog", "Codes", "Constructors", "Content", "Envelope", "Errors"),
    *("Exchange", "Facts", "HeaderFields", "HttpDates", "HttpServerBoundary", "Ids", "Json"),
    "Rendered",
    *("Retries", "RetryPlan", "RetryPlanner", "RetryPolicy", "RetryState", "RetryingClient"),
    *("Row", "SelfTest", "Shape", "UnknownCodeException", "package-info"),
)

_TARGETS = (
    _shipped_target(
        "python",
        "an exception per code, parse and render, retries, error boundaries; no dependencies",
        *(
            Output(f"{module}.py.jinja", f"{{{{ view.package }}}}/{module}.py")
            for module in (
                *_PYTHON_MODULES,
                *(f"frameworks/{framework}" for framework in _PYTHON_FRAMEWORKS),
            )
        ),
        *(
            Output("renderings.py.jinja", "{{ each.package }}/renderings.py", "view.renderings"),
            Output(
                "frameworks/grpc.py.jinja", "{{ each.package }}/frameworks/grpc.py", "view.grpc"
            ),
            Output("py.typed.jinja", "{{ view.package }}/py.typed"),
            Output("openapi.json.jinja", "{{ view.package }}/openapi.json"),
            Output("ruff.toml.jinja", "ruff.toml"),
        ),
        packaged="package",
    ),
    _shipped_target(
        "typescript",
        "a union of the errors, parse, type guards, retry planner; exceptions, servers, clients",
        *(
            *(
                Output(f"{module}.ts.jinja", f"{{{{ view.folder }}}}/{module}.ts")
                for module in _TYPESCRIPT_MODULES
            ),
            Output("renderings.ts.jinja", "{{ view.folder }}/renderings.ts", "view.renderings"),
            *(
                Output(f"{module}.ts.jinja", f"{{{{ each.folder }}}}/{module}.ts", each=part)
                for part, modules in _TYPESCRIPT_PARTS.items()
                for module in modules
            ),
        ),
        packaged="folder",
    ),
    _shipped_target(
        "jsonschema",
        "JSON Schema 2020-12 of each envelope, and of the details of each code",
        Output("envelope.schema.json.jinja", "{{ each.name }}.schema.json", each="envelopes"),
        Output("details.schema.json.jinja", "details.schema.json"),
    ),
    _shipped_target(
        "openapi",
        "OpenAPI 3.1 and 3.0 components: schemas, responses by status, headers, examples",
        Output("components.json.jinja", "openapi-3.1.json"),
        Output("components-3.0.json.jinja", "openapi-3.0.json"),
    ),
    _shipped_target(
        "surfaces",
        "JSON Schema of a whole error on JSON-RPC, MCP, event and log surfaces",
        Output("document.json.jinja", "{{ each.name }}.schema.json", each="view.files"),
    ),
    _shipped_target(
        "mcp",
        "the output schema of each MCP tool, refusals and successes",
        Output("document.json.jinja", "{{ each.name }}.output.schema.json", each="view.files"),
    ),
    _shipped_target(
        "records",
        "JSON Schema of an error's log record and of its audit record",
        Output("document.json.jinja", "{{ each.name }}.schema.json", each="view.files"),
    ),
    _shipped_target(
        "discovery",
        "the errors of each operation as services publish them",
        Output("document.json.jinja", "{{ each.name }}.json", each="view.files"),
    ),
    _shipped_target(
        "markdown",
        "a reference for people, one page with an anchor for each code",
        Output("reference.md.jinja", "reference.md"),
    ),
    _shipped_target(
        "problems",
        "RFC 9457: a registry of problem types, and JSON Schema of the problem objects",
        Output("registry.json.jinja", "registry.json"),
        Output("problem.schema.json.jinja", "problem.schema.json"),
    ),
    _shipped_target(
        "openrpc",
        "OpenRPC 1.3.2: the error objects of each JSON-RPC method, and the groups they share",
        Output("document.json.jinja", "{{ each.name }}.openrpc.json", each="view.files"),
    ),
    _shipped_target(
        "google_rpc",
        "google.rpc.Status as JSON, with ErrorInfo and RetryInfo: JSON Schema and examples",
        Output("status.schema.json.jinja", "status.schema.json"),
        Output("examples.json.jinja", "examples.json"),
    ),
    _shipped_target(
        "prometheus",
        "alert rules over the metrics of the telemetry, and a runbook stub for each alert",
        Output("alerts.yaml.jinja", "{{ each.name }}.yaml", each="view.files"),
        Output("runbook.md.jinja", "runbooks/{{ each.name }}.md", each="view.runbooks"),
    ),
    _shipped_target(
        "otel",
        "OpenTelemetry semantic conventions: attributes, values, metrics, log record",
        Output("registry.yaml.jinja", "registry.yaml"),
    ),
    _shipped_target(
        "overlay",
        "OpenAPI Overlay 1.0: the declared errors for an OpenAPI 3.1 or 3.0 document",
        Output("overlay.json.jinja", "openapi-3.1.overlay.json"),
        Output("overlay-3.0.json.jinja", "openapi-3.0.overlay.json"),
    ),
    _shipped_target(
        "go",
        "a Go package: errors, parse and render, retries, handlers and a transport of net/http",
        *(Output(f"{name}.jinja", f"{{{{ view.package }}}}/{name}") for name in _GO_FILES),
        named_only=True,
    ),
    _shipped_target(
        "java",
        "Java classes: sealed exceptions, parse and render, retries, a client and two servers",
        *(
            *(
                Output(f"{name}.java.jinja", f"{{{{ view.folder }}}}/{name}.java")
                for name in _JAVA_CLASSES
            ),
            Output("Base.java.jinja", "{{ view.basefile }}.java"),
            Output("Exception.java.jinja", "{{ each.file }}.java", each="view.errors"),
            Output(
                "ServletBoundary.java.jinja", "{{ each.folder }}/ServletBoundary.java", "view.apis"
            ),
            Output("catalog.json.jinja", "{{ view.folder }}/catalog.json"),
        ),
        named_only=True,
    ),
    _shipped_target(
        "sql",
        "views over a table of exchanges: the clauses that each row breaks, for four engines",
        Output("views.sql.jinja", "{{ each.name }}.sql", each="view.files"),
        named_only=True,
        configured=True,
    ),
    _shipped_target(
        "vectors",
        "answers, what a client reads in them, and its retries, as JSON: the proof of a port",
        Output("vectors.json.jinja", "vectors.json"),
        Output("vectors.schema.json.jinja", "vectors.schema.json"),
        named_only=True,
    ),
)

SHIPPED: Mapping[str, CompileTarget] = {target.name: target for target in _TARGETS}


def default_targets(known: Mapping[str, CompileTarget] = SHIPPED) -> Mapping[str, CompileTarget]:
    """Those of the known targets that are compiled where none are named."""
    return {name: target for name, target in known.items() if not target.named_only}


__all__ = [
    "LISTS",
    "NO_SETTINGS",
    "SHIPPED",
    "CompileTarget",
    "Context",
    "Model",
    "Output",
    "TargetError",
    "TargetSettings",
    "default_targets",
]
