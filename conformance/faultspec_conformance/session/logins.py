"""Credentials that a login request of the configuration yields.

The headers and the query of an identity contain `${name}` in place of a saved value. The value is
filled in when a request is sent, so no record of the request has it. If the service refuses
credentials that it accepted before, the login request is sent again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from faultspec.exchange.model import Request
from faultspec_conformance.config import Identity, Login, query_of
from faultspec_conformance.config.context import SAVED_NAME
from faultspec_conformance.session.named_secrets import find_named_secrets
from faultspec_conformance.session.observation import Observation
from faultspec_conformance.session.saved import saved_values
from faultspec_conformance.session.secret_names import is_ordinary

#: Logins of one identity in a run, after the first. A service that ends sessions more often is not
#: judged further as this identity.
_RENEWALS = 10

#: Characters. A shorter value, such as a number of seconds, may occur in an answer by chance.
_CREDENTIAL = 8

#: Bytes of the answer to a login that are searched for secrets. One has a few hundred.
_SEARCHED = 64 * 1024

#: Statuses that a caller with unknown credentials does not get.
PAST_CREDENTIALS = frozenset({403, 409, 412})


@dataclass(slots=True)
class Logins:
    """The results of the logins of a run, by identity.

    ``saved``: the values by name. ``accepted``: the identities whose credentials the service
    accepted since their last login. ``welcomed``: identities and operations that accepted them at
    any time. ``failed``: why a login yielded nothing. ``futile``: identities
    and operations that answer 401 to new credentials too. ``renewals``: logins after the first.
    ``rejected``: the operation, by identity, that refused the credentials of two new logins, while
    no operation has accepted them.
    """

    saved: dict[str, Mapping[str, str]] = field(default_factory=dict)
    accepted: set[str] = field(default_factory=set)
    welcomed: set[tuple[str, str | None]] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    futile: set[tuple[str, str | None]] = field(default_factory=set)
    renewals: Counter[str] = field(default_factory=Counter)
    rejected: dict[str, str | None] = field(default_factory=dict)

    def fill_in(self, identity: Identity, request: Request) -> Request:
        """The request with the saved values in the headers and the query of the identity."""
        filled = dict(zip(identity.headers, self.complete(identity).headers, strict=True))
        headers = tuple(filled.get(field, field) for field in request.headers)
        target = request.target
        if any(SAVED_NAME.search(value) for _, value in identity.query):
            saved = {name: _quote(value) for name, value in self._values_of(identity).items()}
            target = _fill(target, saved)
        return Request(request.method, target, headers, request.body)

    def complete(self, identity: Identity) -> Identity:
        """The identity with the saved values in its headers and its query."""
        saved = self._values_of(identity)
        headers = tuple((name, _fill(value, saved)) for name, value in identity.headers)
        query = tuple((name, _fill(value, saved)) for name, value in identity.query)
        return replace(identity, headers=headers, query=query)

    def _values_of(self, identity: Identity) -> Mapping[str, str]:
        return self.saved.get(identity.name, {})

    def secrets(self, name: str) -> tuple[str, ...]:
        """The saved values of an identity that are long enough to be credentials."""
        saved = self.saved.get(name, {}).values()
        return tuple(value for value in saved if len(value) >= _CREDENTIAL)

    def learn(self, observation: Observation) -> None:
        """Note whether an answer shows that the credentials of its caller are accepted."""
        name = observation.exchange.identity
        if name is not None and (observation.ok or observation.status in PAST_CREDENTIALS):
            self.accepted.add(name)
            self.rejected.pop(name, None)
            self.welcomed.add((name, observation.exchange.operation))

    def may_renew(self, identity: Identity, observation: Observation) -> bool:
        """Whether a 401 may mean that the credentials have ended, or that the service does not
        accept those of the last login.
        """
        place = identity.name, observation.exchange.operation
        return (
            observation.status == 401
            and (identity.name in self.accepted or place in self.welcomed)
            and place not in self.futile
            and self.renewals[identity.name] < _RENEWALS
        )


def _fill(text: str, saved: Mapping[str, str]) -> str:
    """The text with saved values in place of their names; a name without a value stays."""
    return SAVED_NAME.sub(lambda found: saved.get(found[1], found[0]), text)


def _quote(value: str) -> str:
    """The value as an address has it."""
    return quote(value, "${}", errors="surrogatepass")


def asks_for_credentials(identities: Iterable[Identity], base: str, request: Request) -> bool:
    """Whether a request goes to a login of these identities, so that a 401 refuses what its body
    names and not the credentials of its headers. ``base``: the base path of the service.
    """
    path = request.target.partition("?")[0]
    return any(
        request.method == identity.login.call.method
        and path.removeprefix(base) == identity.login.call.path.partition("?")[0]
        for identity in identities
        if identity.login is not None
    )


def needs_login(identity: Identity, request: Request) -> bool:
    """Whether a request has headers or parameters of the identity that a login fills in."""
    if identity.login is None:
        return False
    sent = {*request.headers, *query_of(request)}
    return any(
        pair in sent and SAVED_NAME.search(pair[1]) for pair in (*identity.headers, *identity.query)
    )


def read_saved_values(login: Login, answer: Observation) -> dict[str, str] | str:
    """The values that a login saves of its answer, or why there are none."""
    what = f"{login.call.method} {login.call.path}"
    if not answer.ok:
        return f"the service answered {answer} to {what}"
    values = saved_values(login.save, answer, what)
    if isinstance(values, str):
        return values
    found: dict[str, str] = {}
    for name, value in values.items():
        if not isinstance(value, str | int) or value == "":
            return f"{login.save[name]} in the answer ({answer}) of {what} is not a text"
        found[name] = str(value)
    return found


def find_given_secrets(answer: Observation) -> Iterator[str]:
    """Yield the secrets that the answer to a login has beside the saved values: members with secret
    names, such as a token that renews the others, and cookies.
    """
    response = answer.exchange.response
    cookies = (
        value.partition(";")[0].partition("=")[2].strip('"')
        for name, value in response.headers
        if name.lower() == "set-cookie"
    )
    text = response.body[:_SEARCHED].decode("utf-8", "replace")
    for value in (*cookies, *find_named_secrets(text)):
        if len(value) >= _CREDENTIAL and not is_ordinary(value):
            yield value
