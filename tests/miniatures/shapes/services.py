"""The service of each wire shape."""

from collections.abc import Callable, Mapping

from starlette.types import ASGIApp

from . import agents, frameworks, over_json, over_xml

SERVICES: Mapping[str, Callable[[], ASGIApp]] = {
    "agents": agents.agents,
    "aws_json": over_json.aws_json,
    "aws_query": over_xml.aws_query,
    "aws_rest_json": over_json.aws_rest_json,
    "aws_rest_xml": over_xml.aws_rest_xml,
    "credit": over_json.credit,
    "django_rest": over_json.django_rest,
    "fastapi": frameworks.fastapi,
    "github": over_json.github,
    "google_rpc": over_json.google_rpc,
    "graphql": frameworks.graphql,
    "json_api": over_json.json_api,
    "rails": over_json.rails,
    "scim": over_json.scim,
    "stripe": over_json.stripe,
    "twirp": over_json.twirp,
}
