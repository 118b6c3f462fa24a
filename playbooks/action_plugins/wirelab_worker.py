"""A host takes scenarios from the controller's queue until there are none left: one task for a whole matrix.

Nothing but this says how a worker is reached; what it is told and what becomes of it is in wirelab.fleet.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleConnectionFailure, AnsibleError
from ansible.plugins.action import ActionBase

from wirelab.errors import WirelabError
from wirelab.fleet.identity import Identity
from wirelab.fleet.queue import JobQueue
from wirelab.fleet.reasons import explained
from wirelab.fleet.worker import Agent, BrokeError, LostError, Worker
from wirelab.runner.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence


class ActionModule(ActionBase):
    """``wirelab_worker``: queue, results, identity, home, and if need be cpus and use_cache."""

    _VALID_ARGS = frozenset(("queue", "results", "identity", "home", "cpus", "use_cache"))

    def run(self, tmp: None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Work until the queue is finished. A worker that is lost is told, and fails nothing."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        host = str((task_vars or {})["inventory_hostname"])
        if self._task.check_mode:
            return {**result, "changed": False, "msg": f"{host} would take part"}
        args = self._task.args
        queue = JobQueue(Path(args["queue"]))
        try:
            home = self._home(str(args["home"]))
            # Its own cache, and not that of the user: teardown.yml shall know what is whose.
            python = ("env", f"WIRELAB_CACHE={home}/cache", f"{home}/venv/bin/python")
            worker = Worker(
                host,
                queue,
                Store(Path(args["results"])),
                Agent(self._ask, python, f"{home}/runs"),
                Identity(**args["identity"]),
                say=lambda line: self._display.display(f"  {line}"),
                cpus=[int(cpu) for cpu in args.get("cpus") or ()] or None,
                use_cache=bool(args.get("use_cache", True)),
            )
            kept = worker.work()
        except (LostError, BrokeError) as error:
            return self._lost(result, queue, host, str(error))
        except WirelabError as error:
            return self._lost(result, queue, host, f"{error} ({error.hint})" if error.hint else str(error))
        return {**result, "changed": kept > 0, "results": kept}

    def _lost(self, result: dict[str, Any], queue: JobQueue, host: str, why: str) -> dict[str, Any]:
        self._display.display(f"  {host}: lost: {why}")
        try:
            queue.lose(host, why)
        except (OSError, WirelabError) as error:
            # The summary will not name it then. Why it was lost has been said.
            self._display.display(f"  {error}")
        return {**result, "changed": False, "lost": why}

    def _home(self, path: str) -> str:
        try:
            return str(self._remote_expand_user(path, sudoable=False))
        except AnsibleConnectionFailure as error:
            raise LostError(self._why(error.message)) from error

    def _ask(self, argv: Sequence[str]) -> bytes:
        """Carry a request to the worker, in the only way there is: as a line for its shell."""
        try:
            code, out, stderr = self._connection.exec_command(shlex.join(argv), sudoable=False)
        except AnsibleError as error:
            raise LostError(self._why(error.message)) from error
        if code != 0:
            complaint = stderr.decode(errors="replace").strip()
            if "No module named" in complaint:
                raise LostError("it has an older wirelab: run provision.yml again")
            raise BrokeError(
                self._why(complaint) if complaint else f"it was ended there, with exit code {code}"
            )
        return bytes(out)

    def _why(self, complaint: str) -> str:
        address = self._connection.get_option("host") if self._connection.transport == "ssh" else None
        return explained(complaint, str(address or self._play_context.remote_addr))
