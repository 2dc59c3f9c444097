"""Calls that a service makes to the services behind it."""

from functools import partial

from faultspec.contract.clauses.clause import Clause, Requirement
from faultspec.language.model import RetryPolicy, Source, Taxonomy, UpstreamCode


def upstream_policy(taxonomy: Taxonomy) -> RetryPolicy | None:
    """The policy by which services retry their upstream calls, if one is declared."""
    return taxonomy.retry_policies.get((taxonomy.upstream and taxonomy.upstream.retry) or "")


def upstream_codes(taxonomy: Taxonomy) -> tuple[UpstreamCode, ...]:
    """The rows of the table of codes for failures upstream; none if there is no table."""
    return taxonomy.upstream.codes if taxonomy.upstream is not None else ()


def _upstream(taxonomy: Taxonomy) -> tuple[Source, ...]:
    return (taxonomy.upstream.source,) if taxonomy.upstream is not None else ()


def _table(taxonomy: Taxonomy) -> tuple[Source, ...]:
    return (*_upstream(taxonomy), *(row.source for row in upstream_codes(taxonomy)))


def _policy(taxonomy: Taxonomy) -> tuple[Source, ...]:
    policy = upstream_policy(taxonomy)
    return (policy.source,) if policy is not None else ()


def _jitters(taxonomy: Taxonomy) -> bool:
    policy = upstream_policy(taxonomy)
    return policy is not None and policy.policy.jitter.kind != "none"


def _annotates(taxonomy: Taxonomy) -> bool:
    policy = upstream_policy(taxonomy)
    return policy is not None and policy.annotate is not None


_RETRIES = Requirement(
    "the taxonomy has no `upstream.retry`", lambda each: upstream_policy(each) is not None
)
_relation = partial(Clause, reads=("sequence",), requires=(_RETRIES,), sources=_policy)

CLAUSES = (
    _relation(
        address="upstream/attempts",
        title="The service retries a failed upstream call as often as the policy says",
        why="Too many retries attack a service that is down; too few fail for nothing.",
        occasion="A failure upstream that the policy covers, every time.",
    ),
    _relation(
        address="upstream/delays",
        title="The waits between attempts lie within the policy's bounds",
        why="Retries without a wait meet the same failure, and prolong it.",
        occasion="A failure upstream that the service retries.",
    ),
    _relation(
        address="upstream/jitter",
        title="The waits between attempts are spread",
        why="Callers that failed together come back together.",
        occasion="Enough waits for a statistical test, each with room for jitter.",
        presupposes=("upstream/delays",),
        requires=(
            _RETRIES,
            Requirement("no retry policy of upstream calls has `jitter`", _jitters),
        ),
    ),
    _relation(
        address="upstream/not-eligible",
        title="A failure that the policy does not cover is not retried",
        why="A repeated refusal stays a refusal, and locks accounts.",
        occasion="A failure upstream that the policy does not cover.",
    ),
    _relation(
        address="upstream/unsafe",
        title="A call that is not idempotent is sent once",
        why="The message or the money goes out twice.",
        occasion="A failure upstream of a call that is declared not idempotent.",
        sources=_upstream,
    ),
    _relation(
        address="upstream/key",
        title="The attempts of one call share an idempotency key; another call has another",
        why="Upstream cannot distinguish a second attempt from a second order otherwise.",
        occasion="A call upstream that writes.",
        requires=(
            _RETRIES,
            Requirement(
                "the taxonomy has no `upstream.keys`",
                lambda taxonomy: bool(taxonomy.upstream and taxonomy.upstream.keys),
            ),
        ),
        sources=_upstream,
    ),
    _relation(
        address="upstream/recovers",
        title="A call that succeeds on a retry does not fail",
        why="Otherwise the service paid for the retry and lost its success.",
        occasion="A failure upstream that the policy covers, once.",
        presupposes=("upstream/attempts",),
    ),
    _relation(
        address="upstream/heals",
        title="A request succeeds again once the upstream does",
        why="A lock, a slot or a key that a failure keeps turns a moment's failure into an outage.",
        occasion="A failure upstream, and the same request while the upstream answers well.",
        sources=_upstream,
    ),
    _relation(
        address="upstream/surfaces",
        title="After a failure upstream, the service answers with the declared code",
        why="Otherwise users find the hidden failure.",
        occasion="A failure upstream.",
        reads=("sequence", "status", "code"),
        sources=_upstream,
    ),
    _relation(
        address="upstream/code",
        title="After a failure upstream, the service answers with the code of the table",
        why="Callers act on the wrong code, or on that of a service that they do not know.",
        occasion="A failure upstream whose status, and perhaps code, a row of the table names.",
        reads=("sequence", "status", "code"),
        requires=(
            Requirement(
                "the taxonomy has no `upstream.codes`",
                lambda taxonomy: bool(upstream_codes(taxonomy)),
            ),
        ),
        sources=_table,
    ),
    _relation(
        address="upstream/once",
        title="A request that succeeds calls upstream once; a refusal or a replay does not",
        why="The message or the money goes out twice, or for a request that was refused.",
        occasion="Any request while the upstream answers well; only calls that write count.",
        reads=("sequence", "request", "status"),
        sources=_upstream,
    ),
    _relation(
        address="upstream/headers",
        title="A call upstream has the headers of its request that are declared, and no others",
        why="Credentials of a caller reach a stranger, or the logs have no common id.",
        occasion="A request with a header of `pass_on`, while the upstream answers well.",
        reads=("sequence", "request", "header-values"),
        sources=_upstream,
    ),
    _relation(
        address="upstream/stops",
        title="After a failed upstream call the service makes no other call",
        why="The next call builds on a result that does not exist, or hides the failure.",
        occasion="A failure upstream.",
        sources=_upstream,
    ),
    _relation(
        address="upstream/retried",
        title="The details give the true number of retries",
        why="A wrong number leads people to the wrong attempt.",
        occasion="A failure upstream, where the policy has `annotate`.",
        presupposes=("upstream/surfaces",),
        reads=("sequence", "detail-values"),
        requires=(
            _RETRIES,
            Requirement("no retry policy of upstream calls has `annotate`", _annotates),
        ),
    ),
    _relation(
        address="upstream/status",
        title="The details give the true status of the upstream's answer",
        why="A wrong status leads people to the wrong service.",
        occasion="A failure upstream whose status the answer has in a detail.",
        presupposes=("upstream/surfaces",),
        reads=("sequence", "detail-values"),
        requires=(
            _RETRIES,
            Requirement(
                "the taxonomy has no `upstream.status`",
                lambda taxonomy: bool(taxonomy.upstream and taxonomy.upstream.status),
            ),
        ),
        sources=_upstream,
    ),
)
