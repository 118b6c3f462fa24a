"""The task of a playbook that is a worker, with as little of Ansible as it needs."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from wirelab.fleet.queue import JobQueue, QueuedJob

PLUGIN = Path(__file__).resolve().parents[2] / "playbooks/action_plugins/wirelab_worker.py"


class AnsibleError(Exception):
    """What goes wrong with a connection."""

    message = "Connection refused"


class AnsibleConnectionFailure(AnsibleError):  # noqa: N818 - Ansible's name
    """There is none."""


class ActionBase:
    """A task in a play that is told ``args``, keeps what it shows, and whose host cannot be reached."""

    def __init__(self, args: dict[str, Any]) -> None:
        self._task = SimpleNamespace(args=args, check_mode=False)
        self._play_context = SimpleNamespace(remote_addr="pc")
        self._connection = SimpleNamespace(transport="local")
        self.shown: list[str] = []
        self._display = SimpleNamespace(display=self.shown.append)

    def run(self, _tmp: None, _variables: dict[str, Any]) -> dict[str, Any]:
        """Begin."""
        return {}

    def _remote_expand_user(self, _path: str, *, sudoable: bool) -> str:
        assert not sudoable
        raise AnsibleConnectionFailure


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 - a module
    """The plugin's module."""
    contents: dict[str, tuple[type, ...]] = {
        "ansible": (),
        "ansible.errors": (AnsibleError, AnsibleConnectionFailure),
        "ansible.plugins": (),
        "ansible.plugins.action": (ActionBase,),
    }
    for name, classes in contents.items():
        module = ModuleType(name)
        vars(module).update({one.__name__: one for one in classes})
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("wirelab_worker", PLUGIN)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lost(plugin: Any, queue: JobQueue) -> tuple[dict[str, Any], list[str]]:  # noqa: ANN401 - a module
    """The answer of a task whose worker cannot be reached, and what it showed."""
    identity = {"version": "1", "code": "c", "lab": "l"}
    args = {"queue": str(queue.folder), "results": "results", "identity": identity, "home": "~"}
    task = plugin.ActionModule(args)
    return task.run(None, {"inventory_hostname": "pc"}), task.shown


def test_a_lost_worker_is_noted(plugin: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a module
    """With why, for the summary; the task does not fail."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1)])
    answer, shown = lost(plugin, queue)
    assert answer["lost"].startswith("Connection refused")
    assert queue.lost() == {"pc": answer["lost"]}
    assert shown == [f"  pc: lost: {answer['lost']}"]


def test_a_full_disk_does_not_hide_why_it_was_lost(plugin: Any, tmp_path: Path) -> None:  # noqa: ANN401 - a module
    """Both are shown, and the task answers as ever."""
    queue = JobQueue.make(tmp_path / "queue", [QueuedJob("a", 1)])
    (queue.folder / ".matrix.json").symlink_to("/dev/full")
    answer, shown = lost(plugin, queue)
    assert answer["lost"].startswith("Connection refused")
    assert shown[0] == f"  pc: lost: {answer['lost']}"
    assert "No space left on device" in shown[1]
