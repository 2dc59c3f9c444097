"""A runner for steps of GitHub Actions: those of a job, and those of a composite action."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from support.workflow_expressions import is_met, substitute

Step = Mapping[str, Any]


class StepsResult(NamedTuple):
    """The traces of steps. ``outcomes``: success, failure or skipped by the id of a step, or by its
    name. ``outputs``: those of the action, or of a single step. ``foreign``: the actions of others,
    which are not run.
    """

    failed: bool
    outcomes: Mapping[str, str]
    log: str
    summary: str
    outputs: Mapping[str, str] = {}
    steps: Mapping[str, Mapping[str, str]] = {}
    foreign: Sequence[str] = ()


@dataclass(frozen=True)
class Machine:
    """A runner of GitHub with a checkout.

    ``actions``: the folders of actions that are run, by the name before `@`. ``preset``: the
    outputs of steps that are not run, by id. ``event``: the payload of the event.
    """

    checkout: Path
    temporary: Path
    event_name: str = "push"
    commit: str = ""
    event: Mapping[str, Any] = field(default_factory=dict)
    actions: Mapping[str, Path] = field(default_factory=dict)
    preset: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def run_action(self, folder: Path, inputs: Mapping[str, str]) -> StepsResult:
        """Run the steps of `action.yml` with inputs. ValueError for an input that it lacks."""
        action = yaml.safe_load((folder / "action.yml").read_text(encoding="utf-8"))
        declared = action["inputs"]
        if unknown := inputs.keys() - declared.keys():
            raise ValueError(f"{folder.name} has no inputs {sorted(unknown)}")
        values = {name: inputs.get(name, row["default"]) for name, row in declared.items()}
        context = self._context() | {"inputs": values}
        environment = {"GITHUB_ACTION_PATH": str(folder)}
        result = self.run_steps(action["runs"]["steps"], context, environment)
        outputs = {
            name: substitute(row["value"], context) for name, row in action["outputs"].items()
        }
        return result._replace(outputs=outputs)

    def run_job(self, job: Mapping[str, Any], secrets: Mapping[str, str]) -> StepsResult:
        """Run the steps of a job of a workflow."""
        return self.run_steps(job["steps"], self._context() | {"secrets": secrets}, {})

    def _context(self) -> dict[str, Any]:
        github = {"event": self.event, "token": "token-of-the-job", "repository": "shop/errors"}
        return {"github": github, "steps": {}}

    def run_steps(
        self, steps: Sequence[Step], context: dict[str, Any], environment: Mapping[str, str]
    ) -> StepsResult:
        """Run each step whose condition is met, also after a failure."""
        result = StepsResult(failed=False, outcomes={}, log="", summary="")
        for step in steps:
            context["state"] = {
                "always": True,
                "cancelled": False,
                "failure": result.failed,
                "success": not result.failed,
            }
            name = step.get("id") or step.get("name") or step["uses"]
            if not is_met(str(step.get("if", "success()")), context):
                done = StepsResult(failed=False, outcomes={name: "skipped"}, log="", summary="")
            elif name in self.preset:
                done = _succeeded(name)._replace(outputs=self.preset[name])
            else:
                done = self._run_step(step, name, context, environment)
            context["steps"][name] = {"outcome": done.outcomes[name], "outputs": done.outputs}
            result = StepsResult(
                failed=result.failed or done.failed,
                outcomes={**result.outcomes, name: done.outcomes[name]},
                log=result.log + done.log,
                summary=result.summary + done.summary,
                steps={**result.steps, **done.steps, name: done.outputs},
                foreign=(*result.foreign, *done.foreign),
            )
        return result

    def _run_step(
        self, step: Step, name: str, context: dict[str, Any], environment: Mapping[str, str]
    ) -> StepsResult:
        own = {key: substitute(str(value), context) for key, value in step.get("env", {}).items()}
        if "run" in step:
            text = substitute(step["run"], context)
            return self._run_shell(text, step.get("shell"), name, {**environment, **own})
        action = step["uses"].partition("@")[0]
        if action not in self.actions:
            return _succeeded(name)._replace(foreign=(action,))
        inputs = {
            key: substitute(str(value), context) for key, value in step.get("with", {}).items()
        }
        inner = Machine(**{**vars(self), "environment": {**self.environment, **own}})
        result = inner.run_action(self.actions[action], inputs)
        return result._replace(outcomes={name: "failure" if result.failed else "success"})

    def _run_shell(
        self, text: str, shell: str | None, name: str, environment: Mapping[str, str]
    ) -> StepsResult:
        """Run a script with the options that GitHub gives to bash, and without them as it does."""
        options = ["--noprofile", "--norc", "-eo", "pipefail"] if shell == "bash" else ["-e"]
        self.temporary.mkdir(exist_ok=True)
        files = {
            variable: Path(tempfile.mkstemp(dir=self.temporary)[1])
            for variable in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        }
        script = Path(tempfile.mkstemp(dir=self.temporary, suffix=".sh")[1])
        script.write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["bash", *options, str(script)],
            cwd=self.checkout,
            env={
                **os.environ,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_EVENT_NAME": self.event_name,
                "GITHUB_SHA": self.commit,
                "RUNNER_TEMP": str(self.temporary),
                **{variable: str(path) for variable, path in files.items()},
                **self.environment,
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
        return StepsResult(
            failed=bool(done.returncode),
            outcomes={name: "failure" if done.returncode else "success"},
            log=done.stdout,
            summary=files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8"),
            outputs={key: value for key, _, value in (line.partition("=") for line in lines)},
        )


def _succeeded(name: str) -> StepsResult:
    return StepsResult(failed=False, outcomes={name: "success"}, log="", summary="")
