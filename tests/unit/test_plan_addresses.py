"""Addresses and routes: a network wherever frames get without a firewall."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import Any

import pytest
from examples import SHIPPED
from hypothesis import given
from hypothesis import strategies as st

from wirelab.model.topology import HOST_PORT, PortRef, Topology
from wirelab.model.validate import validate
from wirelab.model.yamlfile import read
from wirelab.plan.addresses import Addresses


def shipped(name: str) -> Topology:
    """A topology of the catalogue."""
    return validate(Topology, read(SHIPPED.path("topologies", name))).model


def host(addresses: Addresses, name: str) -> str:
    """The address of a host."""
    return addresses.address_of[PortRef(name, HOST_PORT)]


def chain(kinds: list[str]) -> Topology:
    """Switches and firewalls in a row, a host at each end."""
    nodes: dict[str, Any] = {"a": {"kind": "host"}, "b": {"kind": "host"}}
    nodes |= {f"n{index}": {"kind": kind} for index, kind in enumerate(kinds)}
    ends = ["a", *(f"n{index}.p{side}" for index in range(len(kinds)) for side in (1, 2)), "b"]
    cables = [{"between": pair, "length": "1 m"} for pair in zip(ends[::2], ends[1::2], strict=True)]
    return Topology.model_validate({"name": "chain", "drawing": "-", "nodes": nodes, "cables": cables})


@pytest.mark.parametrize("name", ["sfp-home", "sfp-home-bystander", "hub"])
def test_without_a_firewall_there_is_one_network(name: str) -> None:
    """Hosts count from 1 in the topology's order, and nobody needs a route."""
    topology = shipped(name)
    addresses = Addresses.of(topology)
    hosts = [node_name for node_name, node in topology.nodes.items() if node.kind == "host"]
    assert [host(addresses, node_name) for node_name in hosts] == [
        f"10.0.0.{n}" for n in range(1, len(hosts) + 1)
    ]
    assert all(addresses.routes(node_name) == () for node_name in hosts)


def test_a_firewall_stands_in_two_networks() -> None:
    """Each of its ports has an address there, and the hosts reach each other by it."""
    addresses = Addresses.of(shipped("firewall"))
    assert (host(addresses, "client"), host(addresses, "server")) == ("10.0.0.1", "10.0.1.2")
    assert addresses.with_prefix(PortRef("firewall", "p1")) == "10.0.0.254/24"
    assert [(route.to, route.via) for route in addresses.routes("server")] == [("10.0.0.0/24", "10.0.1.254")]
    assert addresses.routes("firewall") == ()


@given(st.lists(st.sampled_from(["switch", "firewall"]), max_size=6))
def test_hop_by_hop_the_routes_lead_there(kinds: list[str]) -> None:
    """Following them from one end arrives at the other, over every firewall once."""
    topology = chain(kinds)
    addresses = Addresses.of(topology)
    owner = {address: ref.node for ref, address in addresses.address_of.items()}
    assert len(owner) == len(addresses.address_of)
    here, goal, crossed = "a", ip_address(host(addresses, "b")), 0
    own = {
        node: [f"{addresses.with_prefix(r)}" for r in addresses.address_of if r.node == node]
        for node in owner.values()
    }
    while not any(goal in ip_network(network, strict=False) for network in own[here]):
        (via,) = [route.via for route in addresses.routes(here) if goal in ip_network(route.to)]
        here, crossed = owner[via], crossed + 1
    assert crossed == kinds.count("firewall")
