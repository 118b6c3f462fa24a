"""What happens at an instant: that it does, when, and that nothing but it does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.lab.road import carried_out
from wirelab.units import NS_PER_MS

if TYPE_CHECKING:
    from tests.lab.rig import Rig

# Reading the clock takes virtual time.
READING_NS = 100

FLAP = """
topology: sfp-home
with: {server.delay: 5 ms}
traffic:
  - iperf3: {name: download, from: server, to: client, time: 4 s, congestion: cubic}
events:
  - {at: 2 s, for: 300 ms, every: 1500 ms, with: {patch.link: down}}
  - {at: 2500 ms, with: {server.delay: 10 ms, server.loss: 0.1 %}}
  - {at: 3 s, for: 10 ms, with: {switch.p2.link: down}}
expect:
  download: {goodput: 1 Mbit/s..2.4 Gbit/s}
"""

# Every setting that can change, one at a time; the last word is the first link's again.
SETTINGS = """
topology: nbase-home
with:
  client.speed: 2.5 Gbit/s
  switch1.p1.speed: 2.5 Gbit/s
  client.shape.rate: 2 Gbit/s
  client.queue_limit: 100 kB
  client.queue: bfifo
  switch1.p2.queue_limit: 100 kB
  nas.queue: fq
  nas.queue_limit: 1000 frames
traffic:
  - iperf3: {name: up, from: client, to: nas, time: 5 s, congestion: cubic}
events:
  - {at: 2000 ms, with: {client.shape.rate: 500 Mbit/s, client.shape.burst: 6 kB}}
  - {at: 2100 ms, with: {client.queue_limit: 50 kB, switch1.p2.queue_limit: 60 kB}}
  - {at: 2150 ms, with: {nas.queue_limit: 500 frames}}
  - {at: 2200 ms, with: {client.delay: 2 ms, client.jitter: 100 us, client.loss: 0.01 %}}
  - {at: 2250 ms, with: {client.reorder: 0.1 %}}
  - {at: 2300 ms, with: {switch2.flow_control: on, switch2.p1.pause_reaction: 1 us}}
  - {at: 2400 ms, with: {switch2.xoff: 90 kB, switch2.xon: 80 kB, switch2.headroom: 25 kB}}
  - {at: 2500 ms, with: {switch2.flow_control: off, switch2.forward_latency: 5 us}}
  - {at: 2600 ms, with: {nas.rx_frame: 3 us, nas.rx_byte: 1 ns, nas.tx_frame: 1 us, nas.tx_byte: 1 ns}}
  - {at: 2700 ms, with: {nas.bit_error_rate: 1e-9}}
  - {at: 2800 ms, with: {switch2.p2.autoneg_time: 100 ms, nas.autoneg_time: 50 ms}}
  - {at: 2900 ms, with: {nas.advertise: 1 Gbit/s}}
  - {at: 3300 ms, with: {switch1.p2.speed: 1 Gbit/s, switch2.p1.speed: 1 Gbit/s}}
  - {at: 3600 ms, for: 100 ms, with: {client.link: down}}
expect:
  up: {goodput: 1 Mbit/s..2 Gbit/s}
  nas: {speed: 1 Gbit/s}
"""

ROUTED = """
topology: firewall
with:
  client.autoneg_time: 0 ms
  firewall.p1.autoneg_time: 0 ms
  firewall.p2.autoneg_time: 0 ms
  server.autoneg_time: 0 ms
traffic:
  - ping: {name: echo, from: client, to: server, time: 6 s, interval: 100 ms}
events:
  - {at: 2 s, for: 500 ms, with: {firewall.p2.link: down}}
  - {at: 4 s, for: 500 ms, with: {client.link: down}}
expect:
  echo: {lost: 1..20 %}
"""


def test_an_event_takes_place_at_its_nanosecond(rig: Rig) -> None:
    """Whatever else there is to do: at that instant and no other, and twice the same comes of it."""
    plan, result = carried_out(rig, FLAP)
    late_ns = [at_ns - event.at_ns for event, at_ns in zip(plan.events, result.happened.at_ns, strict=True)]
    assert len(late_ns) == 7
    assert len(set(late_ns)) == 1
    assert 0 <= late_ns[0] < READING_NS
    assert carried_out(rig, FLAP)[1].digest == result.digest


def test_nothing_crosses_a_cable_that_is_pulled_out(rig: Rig) -> None:
    """From the instant on nothing arrives, but what was on the cable; and again once it is plugged in."""
    plan, result = carried_out(rig, FLAP)
    out_ns, in_ns = (event.at_ns for event in plan.events[:2])
    seen = {sample.at_ns: sample.ports["client-eth0"].rx_bytes for sample in result.samples}
    gone = {count for at_ns, count in seen.items() if out_ns + NS_PER_MS < at_ns <= in_ns}
    assert len(gone) == 1
    assert seen[max(seen)] > max(gone)


def test_every_setting_that_can_change_does(rig: Rig) -> None:
    """Each is read back after its event, and all of them in the end: one that does not hold is an error."""
    plan, result = carried_out(rig, SETTINGS)
    assert len(result.happened.at_ns) == len(plan.events) == 15
    last = {(one.port, one.setting): one.actual for one in result.happened.readbacks}
    assert last["client-eth0", "shape_rate_bps"] == 500_000_000
    assert last["nas-eth0", "cpu_rx_frame_ns"] == 3000
    assert result.ports["switch2.p2"].speed_bps == 1_000_000_000


def test_a_port_that_was_shut_finds_its_ways_again(rig: Rig) -> None:
    """The kernel forgets the ways by it; they come back with it, at a firewall and at a host."""
    _, result = carried_out(rig, ROUTED)
    answered = result.echoes["echo"].rtt_us
    assert max(answered) >= 55


def test_a_cable_that_stays_away_breaks_no_law(rig: Rig) -> None:
    """What waits is forgotten, links have gone for good: that is the network's doing, and no error."""
    text = """
topology: sfp-home
traffic:
  - iperf3: {name: download, from: server, to: client, time: 3 s}
  - ping: {name: echo, from: server, to: client, with: download, time: 3 s}
events:
  - {at: 2 s, with: {patch.link: down}}
expect:
  echo: {lost: 60..90 %}
  client: {link: down}
"""
    _, result = carried_out(rig, text)
    assert set(result.happened.relinked) == {"client-eth0", "module-line"}


def test_what_stops_senders_may_go_and_come(rig: Rig) -> None:
    """PAUSE, the module that says it and the sender that obeys: the laws of flow control know of each."""
    text = """
topology: sfp-home
with: {module: aqr113c, switch.flow_control: on, server.nic: x520}
traffic:
  - iperf3: {name: download, from: server, to: client, time: 4 s}
events:
  - {at: 2 s, for: 100 ms, with: {slot.link: down}}
  - {at: 3 s, for: 300 ms, with: {switch.flow_control: off}}
  - {at: 4 s, for: 100 ms, with: {server.link: down}}
expect:
  download: {goodput: 1..2.4 Gbit/s}
"""
    carried_out(rig, text)


@pytest.mark.parametrize("shut", ["patch", "client", "switch.p1"])
def test_traffic_over_a_cable_that_is_not_there_is_no_broken_lab(rig: Rig, shut: str) -> None:
    """No connection comes about and nobody answers, whether a cable is unplugged or a port is shut."""
    text = f"""
topology: sfp-home
with: {{{shut}.link: down}}
traffic:
  - iperf3: {{name: tcp, from: server, to: client, time: 2 s}}
  - iperf3: {{name: udp, from: client, to: server, time: 2 s, protocol: udp, bitrate: 10 Mbit/s}}
  - copy: {{name: file, from: server, to: client, bytes: 1 MB, within: 3 s}}
  - ping: {{name: there, from: server, to: client, time: 2 s, interval: 100 ms}}
  - ping: {{name: back, from: client, to: server, time: 2 s, interval: 100 ms}}
expect:
  tcp: {{connects: no}}
  udp: {{connects: no}}
  there: {{lost: 100 %}}
  back: {{lost: 100 %}}
"""
    carried_out(rig, text)


def test_a_cable_that_is_plugged_in_later_carries_from_then_on(rig: Rig) -> None:
    """Not before: nothing has left by it; the settings read back are those of the network as it begins."""
    text = """
topology: sfp-home
with: {patch.link: down, dac.link: down}
traffic:
  - iperf3: {name: download, from: server, to: client, time: 5 s}
events:
  - {at: 2 s, with: {patch.link: up}}
  - {at: 2500 ms, with: {dac.link: up}}
expect:
  download: {goodput: 1..2.4 Gbit/s}
  client: {link: up}
"""
    plan, result = carried_out(rig, text)
    read = {(one.port, one.setting): one.actual for one in result.readbacks}
    assert read["client-eth0", "link"] is False
    late_ns = plan.events[-1].at_ns
    seen = [(sample.at_ns, sample.ports["client-eth0"].rx_bytes) for sample in result.samples]
    assert len({count for at_ns, count in seen if at_ns <= late_ns}) == 1
    assert seen[-1][1] > seen[0][1]


def test_datagrams_are_lost_in_the_window_in_which_a_policer_drops_them(rig: Rig) -> None:
    """The receiver counts them: half of what comes has no room for two seconds, and all of it else."""
    text = """\
topology: one-switch
with:
  switch.flow_control: off
  server.flow_control: off
  switch.p2.shape: {kind: police, rate: 100 Mbit/s, burst: 30 kB}
traffic:
  - iperf3:
      {name: flood, from: client, to: server, time: 6 s, protocol: udp, bitrate: 20 Mbit/s, payload: 1000 B}
events:
  - {at: 3 s, for: 2 s, with: {switch.p2.shape.rate: 10 Mbit/s}}
expect:
  flood:
    windows:
      - {from: 1 s, to: 3 s, goodput: 19.9..20.1 Mbit/s, lost: 0 %}
      - {from: 3 s, to: 5 s, goodput: 9.3..9.7 Mbit/s, lost: 51.5..53.5 %}
      - {from: 5 s, to: 7 s, goodput: 19.9..20.1 Mbit/s, lost: ..0.2 %}
"""
    carried_out(rig, text)
