"""Sentences of the migration guide: the reaction to a change, by rule and audience."""

from collections.abc import Mapping

from faultspec.evolution.model import Audience, Change

_ADVICE: Mapping[tuple[str, Audience], str] = {
    (
        "code/added",
        "clients",
    ): ("Regenerate the bindings and add a case for the code. Until then it is an unknown code."),
    ("code/removed", "clients"): "Remove the cases for the code, or handle its replacement.",
    ("code/removed", "services"): "Raise the replacement, or an error that still exists.",
    ("code/renamed", "clients"): "Rename the class and the enum member. Answers are unchanged.",
    ("code/renamed", "services"): "Rename the class and the enum member. Answers are unchanged.",
    ("code/wire", "clients"): "Accept both wire values until every service has changed.",
    ("code/wire", "services"): "Send the new wire value once clients accept it.",
    (
        "code/status",
        "clients",
    ): "Match the code and not the status, or accept the new status beside the old one.",
    ("code/status", "services"): "Answer under a status that is still allowed.",
    (
        "retry/flag",
        "clients",
    ): "Regenerate the bindings, and check the code that repeats requests, or relies on it.",
    (
        "retry/flag",
        "services",
    ): "Expect repeated requests, and make the operations that return the code idempotent.",
    (
        "retry/policy",
        "clients",
    ): "Check how long calls that are retried may take, and when they fail.",
    ("retry/policy", "services"): "Check that capacity and rate limits bear more retries.",
    ("retry/schedule", "clients"): "Check timeouts and deadlines around calls that are retried.",
    ("retry/schedule", "services"): "Check that capacity and rate limits bear more retries.",
    (
        "header/answer",
        "clients",
    ): "Do not rely on the header without a look at whether it is there.",
    ("header/answer", "services"): "Send the header as the contract demands it.",
    ("details/member", "clients"): "Read the detail only if it is there.",
    ("details/member", "services"): "Pass the details that the constructor now takes.",
    ("idempotency/key", "clients"): "Repeat writes only within the new window, under the new key.",
    (
        "privacy/concealment",
        "clients",
    ): "Expect the new code where a resource belongs to somebody else.",
}

#: Of a code whose wire value has another name too.
_RENAMED_ON_THE_WIRE: Mapping[Audience, str] = {
    "clients": "Rename the class and the enum member. Answers change: accept both wire values "
    "until every service has changed.",
    "services": "Rename the class and the enum member. Answers change: send the new wire value "
    "once clients accept it.",
}

_GENERAL: Mapping[Audience, str] = {
    "clients": "Regenerate the bindings, and check the code that reads these errors.",
    "services": "Regenerate the bindings, and run `faultspec conform` against the service.",
    "operators": "Check dashboards, alerts and queries that read it.",
}


def advise(change: Change, audience: Audience) -> str:
    """The reaction of an audience to a change that breaks it."""
    if change.rule == "code/renamed" and "WIRE" in change.categories:
        return _RENAMED_ON_THE_WIRE.get(audience, _GENERAL[audience])
    return _ADVICE.get((change.rule, audience), _GENERAL[audience])
