"""Logins of a draft: the request that yields a token, if the document has one.

Secrets are always variables of the environment.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random
from urllib.parse import quote, urlsplit

from faultspec.openapi.nodes import FORM, mapping
from faultspec.openapi.service import Description, ServiceOperation
from faultspec_conformance.run.draft_texts import DraftTemplate, quote_scalar, write_flow
from faultspec_conformance.session import sampling

#: The last segments of paths that give out credentials.
_PATHS = re.compile(
    r"(log-?in|sign-?in|tokens?|access[-_]?tokens?|sessions?|auth|authenticate)(\.\w+)?",
    re.IGNORECASE,
)

#: Names of members, without case and punctuation: who logs in, and what only they know.
_USERS = ("username", "user", "login", "email", "emailaddress", "userid", "account", "clientid")
_SECRETS = ("password", "passwd", "passphrase", "pwd", "clientsecret", "secret")

#: Names of the members with a token, the likeliest first, without case and punctuation.
_TOKENS = ("accesstoken", "token", "authtoken", "sessiontoken", "bearertoken", "jwt", "idtoken")


#: The place of a token (RFC 6749, 5.1), if the document does not describe the answer.
_USUAL = "/access_token"

#: The characters of a path and a query that are written as they are (RFC 3986, section 3.3).
_OF_PATHS = "/%:@!$&'()*+,;=?-._~"

#: The parameters of a token request by the flow of OAuth 2.0 (RFC 6749, 4.3.2 and 4.4.2).
_FLOWS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "password": ("password", ("username", "password")),
    "clientCredentials": ("client_credentials", ("client_id", "client_secret")),
}


@dataclass(frozen=True, slots=True)
class DraftedLogin:
    """A login request. ``body``: its members; a template has `{NAME}` in place of the name of the
    identity.

    ``form``: it is sent as a form. ``token``: a pointer to the token in the answer; None if a
    cookie has it.
    """

    path: str
    body: Mapping[str, object]
    form: bool
    token: str | None

    def line(self, identity: str, cookie: str | None) -> str:
        """The value of `login` for an identity. ``cookie``: the name of the one that requests
        carry, and that has the token unless the body of the answer does.
        """
        name = identity.upper()
        body = {
            key: DraftTemplate(value.replace("{NAME}", name))
            if isinstance(value, DraftTemplate)
            else value
            for key, value in self.body.items()
        }
        request = f"request: {write_flow('POST ' + self.path)}"
        if self.form:
            request += f", headers: {{Content-Type: {FORM}}}"
        sent = f"body: {write_flow(body)}"
        is_cookie = self.token is None and cookie is not None
        place = f"cookie {cookie}" if is_cookie else self.token or _USUAL
        return f"{{{request}, {sent}, save: {{token: {quote_scalar(place)}}}}}"


def find_login(description: Description) -> DraftedLogin | None:
    """The login of a service: the token endpoint of an OAuth 2.0 flow, else an operation such as
    `POST /login` with the members of a user and a password.
    """
    flow = next(_flows(description), None)
    return flow or next(_operations(description), None)


def _flows(description: Description) -> Iterator[DraftedLogin]:
    components = mapping(description.document.get("components"))
    for declared in mapping(components.get("securitySchemes")).values():
        flows = mapping(description.schema(declared).get("flows"))
        for name, (grant, members) in _FLOWS.items():
            url = mapping(flows.get(name)).get("tokenUrl")
            if not isinstance(url, str):
                continue
            operation = _token_operation(description, url)
            if operation is None and urlsplit(url).netloc:
                continue  # another server gives out the tokens
            path = "/" + quote(url.lstrip("./"), safe=_OF_PATHS)
            path = operation.template if operation is not None else path
            body: dict[str, object] = {"grant_type": grant}
            body |= {member: _variable(member) for member in members}
            form = operation is None or operation.body is None or not operation.body.json_type
            yield DraftedLogin(path, body, form, _token_place(description, operation))


def _token_operation(description: Description, url: str) -> ServiceOperation | None:
    end = "/" + urlsplit(url).path.strip("./")
    found = (
        one
        for one in description.operations
        if one.method == "POST" and one.template.endswith(end) and "{" not in one.template
    )
    return min(found, key=lambda one: len(one.template), default=None)


def _operations(description: Description) -> Iterator[DraftedLogin]:
    for operation in description.operations:
        last = operation.template.rstrip("/").rpartition("/")[2]
        if operation.method != "POST" or operation.placeholders or operation.body is None:
            continue
        properties = _properties(description, operation.body.schema)
        user = _member(properties, _USERS)
        secret = _member(properties, _SECRETS)
        if not _PATHS.fullmatch(last) or user is None or secret is None:
            continue
        source = sampling.ValueSource(description.document, Random(0))
        required = sampling.required_names(
            sampling.merge_all_of(description.document, operation.body.schema)
        )
        body = {
            name: _variable(name)
            if name in (user, secret)
            else sampling.sample_value(source, properties[name], fresh=False)
            for name in properties
            if name in (user, secret) or name in required
        }
        form = operation.body.json_type is None
        yield DraftedLogin(operation.template, body, form, _token_place(description, operation))


def _variable(member: str) -> DraftTemplate:
    """A variable of the environment for a member, such as `${{NAME}_PASSWORD}`."""
    name = re.sub(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z0-9]+", "_", member).upper()
    return DraftTemplate("${{NAME}_" + name + "}")


def _token_place(description: Description, operation: ServiceOperation | None) -> str | None:
    """The pointer to the token in the documented answer: in the body, or in one of its members."""
    success = operation.success if operation is not None else None
    if success is None or success.schema is None:
        return None
    properties = _properties(description, success.schema)
    direct = _member(properties, _TOKENS)
    if direct is not None:
        return f"/{direct}"
    for name, schema in properties.items():
        inner = _member(_properties(description, schema), _TOKENS)
        if inner is not None:
            return f"/{name}/{inner}"
    return None


def _properties(description: Description, schema: object) -> Mapping[str, object]:
    return sampling.properties_of(sampling.merge_all_of(description.document, schema))


def _member(properties: Mapping[str, object], names: tuple[str, ...]) -> str | None:
    """The member whose name is the first of ``names`` that any has."""
    plain = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in properties}
    return next((plain[name] for name in names if name in plain), None)
