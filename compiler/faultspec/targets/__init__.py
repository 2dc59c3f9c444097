"""Targets: what can be compiled from a taxonomy, and from which templates.

A target turns the taxonomy into a view (frozen rows in which every decision has been made) and its templates loop over
it. The shipped ones are the literal table ``SHIPPED``; a folder of templates with a ``target.yaml`` adds another.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from faultspec.diagnostic import Diagnostic
from faultspec.language.model import Taxonomy
from faultspec.targets.model import Model, model_of

#: The lists of the model that a template can be rendered once for each item of.
LISTS = ("codes", "envelopes", "statuses", "domains", "boundaries", "actions", "policies")


class TargetError(Exception):
    """A target, a template, an output path or the output folder is not usable; ``diagnostic`` says which and why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Output(NamedTuple):
    """A template and the path, below the target's folder, of the file it becomes; the path is a template too.

    ``each``: a list of the model, e.g. ``codes``, or ``view.`` and a list of the view; the template is then rendered
    once for each of its items, as ``each``.
    """

    template: str
    path: str
    each: str | None = None


class Context(NamedTuple):
    """What templates see. ``model``: the taxonomy in ready rows, versioned. ``view``: the rows of this one target."""

    model: Model
    view: object


class Target(NamedTuple):
    """A name, the outputs, and where its view is made: ``module:function`` of ``(taxonomy, model)``, or None for the
    model. Where that function returns None the target has nothing to say of the taxonomy, and no files.

    ``copied``: ``module:function`` of the view that yields files taken over verbatim, as (path, origin).
    """

    name: str
    summary: str
    outputs: tuple[Output, ...]
    view: str | None = None
    copied: str | None = None

    def context(self, taxonomy: Taxonomy, source: str) -> Context | None:
        """The values for this target's templates, None where it has no files; ``source``: the path headers name."""
        model = model_of(taxonomy, source)
        view = model if self.view is None else _function(self.view)(taxonomy, model)
        return None if view is None else Context(model, view)

    def copies(self, context: Context) -> Iterator[tuple[str, Path]]:
        """Files taken over verbatim: path below the target's folder, and origin."""
        if self.copied is not None:
            yield from _function(self.copied)(context.view)


def _function(address: str) -> Callable[..., Any]:
    module, _, name = address.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


_PYTHON_MODULES = ("__init__", "asgi", "codes", "details", "errors", "retry", "wire")

SHIPPED: Mapping[str, Target] = {
    "python": Target(
        name="python",
        summary="an exception per code, parse and render, retries and an ASGI boundary; standard library only",
        outputs=(
            *(Output(f"{each}.py.jinja", f"{{{{ view.package }}}}/{each}.py") for each in _PYTHON_MODULES),
            Output("renderings.py.jinja", "{{ each.package }}/renderings.py", each="view.renderings"),
            Output("py.typed.jinja", "{{ view.package }}/py.typed"),
            Output("ruff.toml.jinja", "ruff.toml"),
        ),
        view="faultspec.targets.python:view",
        copied="faultspec.targets.python:runtime_files",
    ),
    "jsonschema": Target(
        name="jsonschema",
        summary="JSON Schema 2020-12 of each envelope, and of the details of each code",
        outputs=(
            Output("envelope.schema.json.jinja", "{{ each.name }}.schema.json", each="envelopes"),
            Output("details.schema.json.jinja", "details.schema.json"),
        ),
        view="faultspec.targets.jsonschema:view",
    ),
    "openapi": Target(
        name="openapi",
        summary="OpenAPI 3.1 and 3.0 components: schemas, responses by status, headers, examples",
        outputs=(
            Output("components.json.jinja", "openapi-3.1.json"),
            Output("components-3.0.json.jinja", "openapi-3.0.json"),
        ),
        view="faultspec.targets.openapi:view",
    ),
    "surfaces": Target(
        name="surfaces",
        summary="JSON Schema of a whole error on each surface but HTTP: JSON-RPC responses, tool results, events, logs",
        outputs=(Output("document.json.jinja", "{{ each.name }}.schema.json", each="view.files"),),
        view="faultspec.targets.surfaces:view",
    ),
    "mcp": Target(
        name="mcp",
        summary="the output schema of each MCP tool, refusals and successes",
        outputs=(Output("document.json.jinja", "{{ each.name }}.output.schema.json", each="view.files"),),
        view="faultspec.targets.mcp:view",
    ),
    "records": Target(
        name="records",
        summary="JSON Schema of an error's log record and of its audit record",
        outputs=(Output("document.json.jinja", "{{ each.name }}.schema.json", each="view.files"),),
        view="faultspec.targets.records:view",
    ),
}

__all__ = ["LISTS", "SHIPPED", "Context", "Model", "Output", "Target", "TargetError"]
