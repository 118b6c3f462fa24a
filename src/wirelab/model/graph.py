"""The one search through a network. Standard library only: the lab looks for ways, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

Edge = TypeVar("Edge")


def fewest_hops(
    start: str, goal: str, leaving: Callable[[str], Iterable[Edge]], reached: Callable[[Edge], str]
) -> tuple[Edge, ...] | None:
    """The edges from one node to another, as few as there are; None when nothing leads there.

    ``leaving`` gives the edges that lead on from a node, ``reached`` the node that an edge leads to.
    """
    ways: list[tuple[Edge, ...]] = [()]
    seen = {start}
    for way in ways:
        here = reached(way[-1]) if way else start
        if here == goal:
            return way
        for edge in leaving(here):
            if reached(edge) not in seen:
                seen.add(reached(edge))
                ways.append((*way, edge))
    return None
