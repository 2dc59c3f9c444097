"""A KeenBench engine in small: JSON-RPC over standard streams, a message a line, its errors those
of `generated/python`.

    python examples/keenbench/service.py [FOLDER]

With a folder, it also writes its failures to the two logs that the taxonomy declares, below it.
Files, a provider and a disk would need a desktop, a key and a full disk. Here the provider is
called `practice`, and a
model of it fails as its name says; a workbench can be opened with a `mishap`, which is what its
storage then fails with.
"""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(
    0, str(Path(__file__).parent / "generated" / "python")
)  # a team would install the package

from keenbench_errors import (
    BudgetCapReached,
    CheckpointCreateFailed,
    CheckpointRestoreFailed,
    ConflictPublishedChanged,
    ContextExhausted,
    DiskFull,
    EgressBlockedByPolicy,
    EgressConsentRequired,
    FileReadFailed,
    FileWriteFailed,
    KeenbenchError,
    NetworkUnavailable,
    ProviderAuthFailed,
    ProviderNotConfigured,
    ProviderRateLimited,
    ProviderUnavailable,
    SandboxViolation,
    UserCanceled,
    ValidationFailed,
    to_envelope,
)

API_VERSION = "1"
LONGEST_LINE = 1_000_000

PARSE, INVALID, NO_METHOD, PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603

Tell = Callable[[str, Mapping[str, object]], None]


class Protocol(Exception):
    """What is wrong before the application is asked."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code, self.message = code, message


MODELS: Mapping[str, Callable[[], KeenbenchError]] = {
    "busy": lambda: ProviderRateLimited(
        phase="workshop", subphase="stream", provider_id="practice", model_id="busy"
    ),
    "down": lambda: ProviderUnavailable(
        phase="workshop", subphase="stream", provider_id="practice", model_id="down"
    ),
    "far": lambda: NetworkUnavailable(phase="workshop", provider_id="practice"),
    "locked": lambda: ProviderAuthFailed(
        phase="workshop", provider_id="practice", model_id="locked"
    ),
    "small": lambda: ContextExhausted(phase="workshop", subphase="stream", model_id="small"),
    "wild": lambda: SandboxViolation(
        phase="workshop", subphase="apply", detail="A tool asked for the network"
    ),
    "sloppy": lambda: ValidationFailed(
        phase="workshop",
        subphase="proposal",
        retriable=True,
        detail="A file is not in the workbench",
    ),
    "slow": lambda: UserCanceled(phase="workshop", subphase="stream"),
}
"""The models of the practice provider that fail; any other answers."""


class Engine:
    """Workbenches, and what may be done with them. Methods are called with checked params."""

    def __init__(self, tell: Tell) -> None:
        self.tell = tell
        self.workbenches: dict[str, dict[str, Any]] = {}
        self.budget = 100

    def hello(self) -> object:
        """The engine and its version."""
        return {"engine": "keenbench", "api_version": API_VERSION}

    def set_budget(self, requests: int) -> object:
        """How many questions a job may ask."""
        self.budget = requests
        return {"requests": requests}

    def open(self, mishap: str = "", consent: bool = False) -> object:
        """A new workbench, whose storage fails with `mishap`."""
        name = f"wb-{len(self.workbenches) + 1}"
        self.workbenches[name] = {"files": [], "consent": consent, "published": 1, "mishap": mishap}
        return {"workbench_id": name, "published": 1}

    def add_file(self, workbench_id: str, path: str) -> object:
        """Take a file into the workbench."""
        workbench = self._workbench(workbench_id, "workbench")
        if path.startswith("missing"):
            raise FileReadFailed(
                phase="workbench", subphase="add_files", retriable=False, workbench_id=workbench_id
            )
        workbench["files"].append(path)
        return {"files": len(workbench["files"])}

    def consent(self, workbench_id: str) -> object:
        """The user agrees that the content of the workbench leaves the machine."""
        self._workbench(workbench_id, "workshop")["consent"] = True
        return {}

    def ask(self, workbench_id: str, text: str, model: str, provider: str = "practice") -> object:
        """Have a model work on the workbench."""
        workbench = self._workbench(workbench_id, "workshop")
        if provider == "forbidden":
            raise EgressBlockedByPolicy(phase="workshop", provider_id=provider)
        if provider != "practice":
            raise ProviderNotConfigured(phase="settings", provider_id=provider)
        if not workbench["consent"]:
            raise EgressConsentRequired(
                phase="workshop", provider_id=provider, workbench_id=workbench_id
            )
        if self.budget <= 0:
            raise BudgetCapReached(phase="workshop", workbench_id=workbench_id)
        self.budget -= 1
        self.tell("workshop.progress", {"workbench_id": workbench_id, "words": len(text.split())})
        if model in MODELS:
            raise MODELS[model]()
        return {"proposal": f"{len(workbench['files'])} files, {len(text.split())} words"}

    def publish(self, workbench_id: str, published: int) -> object:
        """Publish the draft, if nobody has since."""
        workbench = self._workbench(workbench_id, "publish")
        failures: Mapping[str, Callable[[], KeenbenchError]] = {
            "full": lambda: DiskFull(phase="publish", workbench_id=workbench_id),
            "read-only": lambda: FileWriteFailed(
                phase="publish", retriable=False, workbench_id=workbench_id
            ),
            "no-checkpoint": lambda: CheckpointCreateFailed(
                phase="publish", retriable=True, workbench_id=workbench_id
            ),
        }
        if workbench["mishap"] in failures:
            raise failures[workbench["mishap"]]()
        if published != workbench["published"]:
            raise ConflictPublishedChanged(phase="publish", workbench_id=workbench_id)
        workbench["published"] += 1
        return {"published": workbench["published"]}

    def restore(self, workbench_id: str, checkpoint: int) -> object:
        """Go back to a checkpoint."""
        workbench = self._workbench(workbench_id, "restore")
        if not 1 <= checkpoint <= workbench["published"]:
            raise CheckpointRestoreFailed(
                phase="restore", retriable=False, workbench_id=workbench_id
            )
        workbench["published"] = checkpoint
        return {"published": checkpoint}

    def _workbench(self, name: str, phase: Any) -> dict[str, Any]:
        if name not in self.workbenches:
            raise ValidationFailed(
                phase=phase, retriable=False, detail="There is no such workbench"
            )
        return self.workbenches[name]


METHODS: Mapping[str, tuple[Callable[..., object], Mapping[str, type], Mapping[str, type]]] = {
    "engine.hello": (Engine.hello, {}, {}),
    "settings.set_budget": (Engine.set_budget, {"requests": int}, {}),
    "workbench.open": (Engine.open, {}, {"mishap": str, "consent": bool}),
    "workbench.add_file": (Engine.add_file, {"workbench_id": str, "path": str}, {}),
    "workshop.consent": (Engine.consent, {"workbench_id": str}, {}),
    "workshop.ask": (
        Engine.ask,
        {"workbench_id": str, "text": str, "model": str},
        {"provider": str},
    ),
    "publish.draft": (Engine.publish, {"workbench_id": str, "published": int}, {}),
    "checkpoint.restore": (Engine.restore, {"workbench_id": str, "checkpoint": int}, {}),
}
"""The methods by name: what does it, the params it must have, and those it may have, with their
types.
"""


def checked(
    params: object, required: Mapping[str, type], optional: Mapping[str, type]
) -> dict[str, object]:
    """The params of a method. Raises Protocol where they don't fit."""
    if not isinstance(params, dict) or params.get("api_version") != API_VERSION:
        raise Protocol(PARAMS, f"api_version {API_VERSION} is spoken here")
    given = {name: value for name, value in params.items() if name != "api_version"}
    known = {**required, **optional}
    for name in (*required, *given):
        if name not in given or name not in known or type(given[name]) is not known[name]:
            raise Protocol(PARAMS, "The parameters do not fit the method")
    return given


def answer(engine: Engine, message: object) -> object:
    """The answer to one request; None to a notification."""
    identifier = message.get("id") if isinstance(message, dict) else None
    if isinstance(identifier, bool) or not isinstance(identifier, str | int | None):
        identifier = None
    try:
        if not (
            isinstance(message, dict)
            and message.get("jsonrpc") == "2.0"
            and isinstance(message.get("method"), str)
            and isinstance(message.get("params", {}), dict | list)
        ):
            raise Protocol(INVALID, "This is not a request")
        if message["method"] not in METHODS:
            raise Protocol(NO_METHOD, "There is no such method")
        method, required, optional = METHODS[message["method"]]
        result = method(engine, **checked(message.get("params", {}), required, optional))
        answered: object = {"jsonrpc": "2.0", "id": identifier, "result": result}
    except KeenbenchError as error:
        error.request_id = identifier if identifier is not None else 0
        answered = to_envelope(error)
        engine.tell("engine.failed", {"error": to_envelope(error, envelope="error_info")})
    except Protocol as error:
        answered = _protocol(identifier, error.code, error.message)
        if error.code == INVALID:
            return answered
    except Exception:
        answered = _protocol(identifier, INTERNAL, "The engine failed")
    return answered if isinstance(message, dict) and "id" in message else None


def handled(engine: Engine, line: str) -> object:
    """The answer to a line; None where there is nothing to say."""
    if len(line) > LONGEST_LINE:
        return _protocol(None, INVALID, "The line is too long")
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _protocol(None, PARSE, "The line is not JSON")
    if not isinstance(message, list):
        return answer(engine, message)
    if not message:
        return _protocol(None, INVALID, "The batch is empty")
    return [
        answered for answered in (answer(engine, each) for each in message) if answered is not None
    ] or None


def _protocol(identifier: object, code: int, message: str) -> object:
    return {"jsonrpc": "2.0", "id": identifier, "error": {"code": code, "message": message}}


class Logs:
    """The logs of a workbench: its conversation, and its events."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "meta"
        self.folder.mkdir(parents=True, exist_ok=True)

    def write(self, failure: object) -> None:
        """Append a failure to both."""
        self._append("conversation.jsonl", {"type": "system_event", "error": failure})
        self._append("workbench_events.jsonl", {"event": "failed", "error": failure})

    def _append(self, name: str, record: Mapping[str, object]) -> None:
        with (self.folder / name).open("a", encoding="utf-8") as log:
            log.write(json.dumps(record, ensure_ascii=False) + "\n")


def main() -> None:
    """Answer each line of the standard input, until it ends."""
    logs = Logs(Path(sys.argv[1])) if len(sys.argv) > 1 else None

    def say(value: object) -> None:
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
        sys.stdout.flush()

    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]  # a text file, so it can
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]

    def tell(method: str, params: Mapping[str, object]) -> None:
        if logs is not None and "error" in params:
            logs.write(params["error"])
        say({"jsonrpc": "2.0", "method": method, "params": params})

    engine = Engine(tell)
    for line in sys.stdin:
        answered = handled(engine, line)
        if answered is not None:
            say(answered)


if __name__ == "__main__":
    main()
