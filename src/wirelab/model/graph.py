"""The searches through a network. Standard library only: the lab looks for ways, too."""

from collections.abc import Iterable
from typing import TypeVar

Edge = TypeVar("Edge")


def fewest_hops(start: str, goal: str, edges: Iterable[tuple[str, str, Edge]]) -> tuple[Edge, ...] | None:
    """The edges from one node to another, as few as there are; None when nothing leads there.

    Before each of ``edges`` stand the node that it leaves and the node that it leads to.
    """
    leaving: dict[str, list[tuple[str, Edge]]] = {}
    for source, target, edge in edges:
        leaving.setdefault(source, []).append((target, edge))
    ways: list[tuple[str, tuple[Edge, ...]]] = [(start, ())]
    seen = {start}
    for here, way in ways:
        if here == goal:
            return way
        for target, edge in leaving.get(here, ()):
            if target not in seen:
                seen.add(target)
                ways.append((target, (*way, edge)))
    return None


def every_way(start: str, goal: str, edges: Iterable[tuple[str, str, Edge]]) -> tuple[tuple[Edge, ...], ...]:
    """All ways from one node to another that come to no node twice, in the order of the edges."""
    leaving: dict[str, list[tuple[str, Edge]]] = {}
    for source, target, edge in edges:
        leaving.setdefault(source, []).append((target, edge))
    ways: list[tuple[Edge, ...]] = []
    begun: list[tuple[tuple[str, ...], tuple[Edge, ...]]] = [((start,), ())]
    while begun:
        nodes, way = begun.pop()
        if nodes[-1] == goal:
            ways.append(way)
            continue
        further = [(target, edge) for target, edge in leaving.get(nodes[-1], ()) if target not in nodes]
        begun += [((*nodes, target), (*way, edge)) for target, edge in reversed(further)]
    return tuple(ways)
