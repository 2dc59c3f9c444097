"""A coffee order as a Burr graph, served by Theodosia over HTTP: `python app.py PORT`."""

import sys
import time
from typing import Any

import theodosia
from burr.core import ApplicationBuilder, State, action, when


@action(reads=[], writes=["stage", "item"])
def take_order(state: State, item: str) -> State:
    """The customer names a drink."""
    return state.update(stage="ordered", item=item)


@action(reads=[], writes=["modifier"])
def add_modifier(state: State, modifier: str) -> State:
    """Another milk."""
    return state.update(modifier=modifier)


@action(reads=[], writes=["stage"])
def pay(state: State, amount: int) -> State:
    """Takes an amount."""
    if amount <= 0:
        raise ValueError("amount must be positive")
    return state.update(stage="paid")


@action(reads=[], writes=["report"])
def fetch_report(state: State, seconds: int) -> State:
    """Takes the seconds of its argument."""
    time.sleep(seconds)
    return state.update(report="all well")


@action(reads=[], writes=["stage"])
def cancel(state: State) -> State:
    """Back to the beginning."""
    return state.update(stage="empty")


def build() -> ApplicationBuilder:
    """The graph of one session."""
    ordered = ("add_modifier", "pay", "fetch_report", "cancel")
    leads = {"ordered": ("take_order", "add_modifier", "fetch_report")}
    return (
        ApplicationBuilder()
        .with_actions(take_order, add_modifier, pay, fetch_report, cancel)
        .with_transitions(
            *(
                (one, other, when(stage=stage))
                for stage, many in leads.items()
                for one in many
                for other in ordered
            ),
            ("pay", "cancel", when(stage="paid")),
            ("cancel", "take_order", when(stage="empty")),
        )
        .with_state(stage="empty")
        .with_entrypoint("take_order")
    )


def known_modifier(state: dict[str, Any], inputs: dict[str, Any]) -> None:
    """Refuses an unknown milk."""
    got = inputs.get("modifier")
    if got not in ("oat", "soy", "almond"):
        raise theodosia.ValidationFailed(
            "modifier must be one of: oat, soy, almond", details={"field": "modifier", "got": got}
        )


if __name__ == "__main__":
    server = theodosia.mount(
        build,
        name="coffee",
        action_timeout_seconds=0.5,
        input_validators={"add_modifier": known_modifier},
    )
    server.run(transport="http", host="127.0.0.1", port=int(sys.argv[1]), show_banner=False)
