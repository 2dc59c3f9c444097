"""Texts that must not leave a service in an error."""

from functools import partial

from faultspec.contract.clauses.clause import Clause, Requirement
from faultspec.leaks.personal import LIBRARIES, missing_libraries

_PRIVACY = Requirement("the taxonomy has no `privacy`", lambda taxonomy: bool(taxonomy.privacy))


def _detector(name: str) -> tuple[Requirement, ...]:
    """``privacy.detectors`` must list the detector."""
    return (
        _PRIVACY,
        Requirement(
            f"`privacy.detectors` does not list `{name}`",
            lambda taxonomy: bool(taxonomy.privacy and name in taxonomy.privacy.detectors),
        ),
    )


_LIBRARIES = Requirement(
    f"{' or '.join(LIBRARIES.values())} is not installed: pip install 'faultspec[personal-data]'",
    lambda _: not missing_libraries(),
)


_leak = partial(
    Clause,
    occasion="Every error.",
    reads=("message", "body", "header-values"),
    needs=("message",),
    sources=lambda taxonomy: (taxonomy.privacy.source,) if taxonomy.privacy else (),
)
_reads_request = partial(_leak, reads=("message", "body", "header-values", "request"))
# Where the request is unknown, its own text may have come back: the judge warns.
_leak_unless_sent = partial(_reads_request, needs=("message",))
# What was planted in an unknown request is unknown too.
_planted = partial(_reads_request, needs=("message", "request"))

CLAUSES = (
    _leak(
        address="leaks/stack-trace",
        title="No stack trace",
        why="It maps the inside of the service for every caller.",
        requires=_detector("stack-trace"),
    ),
    _leak(
        address="leaks/sql",
        title="No statement or message of a database",
        why="It reveals table names, and which injection works.",
        requires=_detector("sql"),
    ),
    _leak(
        address="leaks/connection-string",
        title="No connection string",
        why="It is an address with its password.",
        requires=_detector("connection-string"),
    ),
    _leak_unless_sent(
        address="leaks/path",
        title="No path of the server's file system",
        why="It reveals the layout of the machine and the names of its users.",
        requires=_detector("path"),
    ),
    _leak_unless_sent(
        address="leaks/private-address",
        title="No private address or internal host",
        why="It maps the network behind the gateway.",
        requires=_detector("private-address"),
    ),
    _leak(
        address="leaks/secret",
        title="No key, token or password",
        why="Errors are logged, shared and pasted into tickets.",
        requires=_detector("secret"),
    ),
    _leak(
        address="leaks/email",
        title="No e-mail address",
        why="It is personal data.",
        requires=_detector("email"),
    ),
    _leak(
        address="leaks/personal-data",
        title="No number of a card, an account, a telephone or a person",
        why="It is personal data, and with a card or an account it is money.",
        requires=(*_detector("personal-data"), _LIBRARIES),
    ),
    _leak(
        address="leaks/internal-name",
        title="No name of a queue, topic or other internal resource",
        why="It helps an attacker, and clients come to depend on it.",
        requires=_detector("internal-name"),
    ),
    _planted(
        address="leaks/canary",
        title="No value that was planted in the request",
        why="Where input comes back, secrets and scripts come back.",
        occasion="Every error to a request with planted values.",
        requires=_detector("canary"),
    ),
    Clause(
        address="leaks/confidential",
        title="No value of a confidential member of a request",
        why="What comes back once, such as a card number, stands in every log on the way.",
        occasion="Every answer after a request with a made-up value in a confidential member.",
        reads=("body", "header-values", "request", "sequence"),
    ),
    _planted(
        address="leaks/echoed-tenant",
        title="No tenant's identifier",
        why="Tenants must not learn of each other, or of their own internal id.",
        occasion="Every error to a caller whose tenant is known.",
        requires=(
            _PRIVACY,
            Requirement(
                "`privacy.never_echoed` does not list `tenant`",
                lambda taxonomy: bool(
                    taxonomy.privacy and "tenant" in taxonomy.privacy.never_echoed
                ),
            ),
        ),
    ),
)
