"""Mininet's nodes without their shells.

Mininet starts each node with five programs and a shell, so that somebody can give it commands. Nobody here
does: a node is its network namespace, and what the lab runs there it starts itself.
"""

import shlex
from collections.abc import Sequence
from typing import Any

from mininet.node import Node, OVSBridge

from wirelab.guest.namespace import NetworkNamespace
from wirelab.guest.shell import run


class Namespace(Node):  # type: ignore[misc]
    """A host, firewall, hub or module: a namespace, and no process in it."""

    @classmethod
    def setup(cls) -> None:
        """Nothing: the programs that Mininet looks for are in the root image."""

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: ARG002, N802 Mininet's own signature
        """Make the namespace, which is all that the shell would be for."""
        self.namespace = NetworkNamespace(self.name)


class Bridge(OVSBridge):  # type: ignore[misc]
    """A switch: a bridge of Open vSwitch that is made with all others by one command."""

    def __init__(self, name: str, **params: Any) -> None:  # noqa: ANN401 Mininet's own signature
        super().__init__(name, batch=True, **params)

    @classmethod
    def start_all(cls, bridges: Sequence["Bridge"]) -> None:
        """Make bridges with the ports that they have been given. Raises CommandError when that fails."""
        for bridge in bridges:
            bridge.start([])
        run(shlex.split(" ".join(("ovs-vsctl", *(line for bridge in bridges for line in bridge.commands)))))

    @classmethod
    def setup(cls) -> None:
        """Nothing: that Open vSwitch answers is known since it was started."""

    @classmethod
    def isOldOVS(cls) -> bool:  # noqa: N802 Mininet's own signature
        """No: the root image's is newer than 1.10."""
        return False

    def startShell(self, mnopts: str | None = None) -> None:  # noqa: ARG002, N802 Mininet's own signature
        """Nothing: the lab's own namespace is there already."""
        self.namespace = None

    def cmd(self, *words: Any, **_options: Any) -> str:  # noqa: ANN401 Mininet's own signature
        """Nothing of what Mininet says here to a switch's shell is needed: it sets the loopback device up."""
        if words[:2] != ("ifconfig", "lo"):
            raise NotImplementedError(f"a switch without a shell was told: {words}")
        return ""
