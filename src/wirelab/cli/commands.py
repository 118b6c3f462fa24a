"""The commands that there are. The module of each is imported on demand: all take half a second."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

import typer

from wirelab.cli.errors import Group
from wirelab.cli.part import part

COMMANDS: Final[Mapping[str, str]] = {
    "run": "wirelab.cli.run:run_command",
    "list": "wirelab.cli.list:list_command",
    "summary": "wirelab.cli.summary:summary_command",
    "sweep": "wirelab.cli.sweep:sweep_command",
    "site": "wirelab.cli.site:site_command",
    "truth": "wirelab.cli.truth:truth_command",
    "capture": "wirelab.cli.capture:capture_command",
    "compare": "wirelab.cli.compare:compare_command",
    "shell": "wirelab.cli.shell:shell_command",
    "explain": "wirelab.cli.explain:explain_command",
    "parts": "wirelab.cli.parts:parts_command",
    "serve": "wirelab.cli.serve:serve_command",
    "exec": "wirelab.cli.exec:exec_command",
    "validate": "wirelab.cli.validate:validate_command",
    "plan": "wirelab.cli.plan:plan_command",
    "schema": "wirelab.cli.schema:schema_command",
    "doctor": "wirelab.cli.doctor:doctor_command",
    "exercise": "wirelab.cli.exercise:app",
    "lab": "wirelab.cli.lab:app",
}
"""Each command, in the order in which they are listed, and where its function or its group is."""

_PASSED_ON: Final[Mapping[str, Mapping[str, bool]]] = {
    "exec": {"ignore_unknown_options": True, "allow_interspersed_args": False}
}
"""Commands whose arguments may be another program's options."""


class Commands(Group):
    """The commands of ``wirelab``; each is there as soon as somebody wants it."""

    @property
    def commands(self) -> dict[str, Any]:
        """All of them, for who lists them or looks for a similar name."""
        return {name: self._command(name) for name in COMMANDS}

    @commands.setter
    def commands(self, _registered: object) -> None:
        # typer sets what was registered with it, which is nothing.
        self._there: dict[str, Any] = {}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002 - typer's own types are private
        """Their names."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ANN401, ARG002 - as above
        """The command of that name, None if there is none."""
        return self._command(cmd_name) if cmd_name in COMMANDS else None

    def _command(self, name: str) -> Any:  # noqa: ANN401 - as above
        if name not in self._there:
            module, _, attribute = COMMANDS[name].partition(":")
            found = getattr(import_module(module), attribute)
            if not isinstance(found, typer.Typer):
                alone = part()
                alone.command(name, context_settings=dict(_PASSED_ON.get(name, {})))(found)
                found = alone
            command = typer.main.get_command(found)
            command.name = name
            self._there[name] = command
        return self._there[name]
