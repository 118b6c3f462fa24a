"""The playbooks are clean before anything is done with them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fleet.play import PLAYBOOKS

BOOKS = ("provision", "matrix", "classroom", "serve", "teardown")


def tool(*argv: str) -> str:
    """What a tool of the test environment complains about, called in playbooks/."""
    folder = Path(sys.executable).parent
    path = os.pathsep.join((str(folder), os.environ["PATH"]))
    done = subprocess.run(
        [str(folder / argv[0]), *argv[1:]],
        cwd=PLAYBOOKS,
        env={**os.environ, "PATH": path, "ANSIBLE_CONFIG": "ansible.cfg"},
        capture_output=True,
        text=True,
        check=False,
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_ansible_lint_finds_nothing() -> None:
    """By its strictest profile, warnings count."""
    assert tool("ansible-lint", "--offline", "--profile", "production", "--strict", "--nocolor") == ""


def test_yamllint_finds_nothing() -> None:
    """Every YAML file of the playbooks."""
    assert tool("yamllint", "--strict", ".") == ""


@pytest.mark.parametrize("book", BOOKS)
def test_syntax_is_good(book: str) -> None:
    """With the example inventory, which so is one."""
    assert tool("ansible-playbook", "--syntax-check", "-i", "inventory/example.yml", f"{book}.yml") == ""


def test_names_reach_a_shell_quoted() -> None:
    """No task takes a shell's line; the two that must are raw, with every value quoted, and the plugin's."""
    for path in sorted(PLAYBOOKS.rglob("*.yml")):
        text = path.read_text(encoding="utf-8")
        assert "ansible.builtin.shell" not in text
        for line in text.split("ansible.builtin.raw:")[1:]:
            command = line.partition("register:")[0]
            assert command.count("{{") == command.count("| quote }}"), path
    plugin = (PLAYBOOKS / "action_plugins/wirelab_worker.py").read_text(encoding="utf-8")
    assert plugin.count("exec_command(") == plugin.count("exec_command(shlex.join(") == 1
