"""Ports that follow a trace: in each of its milliseconds the bucket of a tbf gets what may pass then.

A tbf whose figures change is full (tbf_change in net/sched/sch_tbf.c): what a millisecond allows becomes its
burst, with what the frame at the head of the queue had of the one before, as mahimahi has it. Its rate is the
least at which tc can tell that burst: a 256th of it a second. Nobody looks at a bucket that has become full,
until a frame comes; the plug beside it has the port try (plug_change in sch_plug.c). Sources:
include/uapi/linux/pkt_sched.h, rtnetlink.h, gen_stats.h.
"""

import contextlib
import json
import os
import signal
import socket
import struct
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from wirelab.guest import clock, netlink
from wirelab.guest.queues import TICK_NS
from wirelab.guest.readback import readbacks, verify
from wirelab.model.trace import OPPORTUNITY_BYTES, Trace
from wirelab.plan import iproute2
from wirelab.plan.event import states
from wirelab.plan.types import Plan, Port

if TYPE_CHECKING:  # Mininet is in the lab alone
    from collections.abc import Mapping, Sequence

    from wirelab.guest.network import Network

FILE = "traces.json"

_CHANGE, _GET, _ECHO = 36, 38, 8
_KIND, _OPTIONS, _STATS = 1, 2, 7
_TBF_PARMS, _TBF_BURST = 1, 6
_RATE = struct.Struct("=BBHhHI")  # struct tc_ratespec: cell, link layer, overhead, alignment, mpu, rate
_TBF_LIMITS = struct.Struct("=III")  # the rest of struct tc_tbf_qopt: limit, buffer, mtu
_ETHERNET = 1
_STATS_BASIC, _STATS_QUEUE = 1, 3
_BYTES, _QUEUE = struct.Struct("=Q"), struct.Struct("=I")
_RELEASE = struct.pack("=iI", 2, 0)  # struct tc_plug_qopt: TCQ_PLUG_RELEASE_INDEFINITE, no limit

# A burst is told as a time in 32 bits of ticks: 274 s at its rate.
_LONGEST_S = 256
# What a FIFO holds that nobody has given a limit, of a kind that a tbf tells its own.
_OWN_LIMITS = {"bfifo": 1000 * 1514, "pfifo": 1000}


class _Bucket:
    """The tbf of a port and the plug beside it, in the network namespace that the process is in."""

    def __init__(self, port: Port) -> None:
        self._socket = netlink.open_socket(netlink.ROUTE)
        parent = int(iproute2.shaper_handle(port).rstrip(":"), 16) << 16
        index = socket.if_nametoindex(port.name)
        tbf, plug = (int(handle.rstrip(":"), 16) << 16 for handle in (iproute2.BUCKET, iproute2.KICK))
        self._tbf = netlink.TC_MESSAGE.pack(socket.AF_UNSPEC, index, tbf, parent + 1, 0)
        plugged = netlink.TC_MESSAGE.pack(socket.AF_UNSPEC, index, plug, parent + 2, 0)
        self._kick = plugged + netlink.attribute(_KIND, b"plug\0") + netlink.attribute(_OPTIONS, _RELEASE)
        self._name = port.name
        self._burst_bytes = 0
        self._passed_bytes = self._told()[0]

    def _told(self) -> tuple[int, int]:
        """What it has let pass so far, and the frames that wait for it. Raises SettingsMismatchError."""
        netlink.send(self._socket, _GET, self._tbf, _ECHO)
        told = netlink.attributes(next(netlink.messages(self._socket))[1][netlink.TC_MESSAGE.size :])
        stats = netlink.attributes(told[_STATS])
        if self._burst_bytes:
            parms = netlink.attributes(told[_OPTIONS])[_TBF_PARMS]
            *_, rate = _RATE.unpack_from(parms)
            _, ticks, _ = _TBF_LIMITS.unpack_from(parms, 2 * _RATE.size)
            burst_bytes = round(ticks * TICK_NS * rate / clock.NS_PER_S)
            if (rate, burst_bytes) != (_least_rate(self._burst_bytes), self._burst_bytes):
                pairs = {
                    "trace_rate_bytes": (_least_rate(self._burst_bytes), rate),
                    "trace_burst_bytes": (self._burst_bytes, burst_bytes),
                }
                verify(readbacks(self._name, pairs))
        (passed_bytes,) = _BYTES.unpack_from(stats[_STATS_BASIC])
        (waiting,) = _QUEUE.unpack_from(stats[_STATS_QUEUE])
        return passed_bytes, waiting

    def fill(self, opportunities: int, limit: int) -> int:
        """Let so much pass, and what is left of the last if a frame waits for it; returns what that is."""
        passed_bytes, waiting = self._told()
        left_bytes = self._burst_bytes - (passed_bytes - self._passed_bytes)
        kept_bytes = min(max(left_bytes, 0), OPPORTUNITY_BYTES) if waiting else 0
        self._passed_bytes = passed_bytes
        self._burst_bytes = kept_bytes + opportunities * OPPORTUNITY_BYTES
        rate = _RATE.pack(0, _ETHERNET, 0, 0, 0, _least_rate(self._burst_bytes))
        parms = rate + bytes(_RATE.size) + _TBF_LIMITS.pack(limit, 0, 0)
        options = netlink.attribute(_TBF_PARMS, parms)
        options += netlink.attribute(_TBF_BURST, struct.pack("=I", self._burst_bytes))
        told = netlink.attribute(_KIND, b"tbf\0") + netlink.attribute(_OPTIONS, options, nested=True)
        # What is wrong with the first is answered all the same, and before the second.
        netlink.send(self._socket, _CHANGE, self._tbf + told)
        netlink.tell(self._socket, _CHANGE, self._kick)
        return kept_bytes


def _least_rate(burst_bytes: int) -> int:
    """The least rate, in bytes a second, at which tc can tell a burst."""
    return -(-burst_bytes // _LONGEST_S)


def _limits(plan: Plan, port: Port) -> list[tuple[int, int]]:
    """From when on the FIFO of a port holds how much: a tbf that changes tells it so."""
    limits = []
    for at_ns, state in states(plan):
        queue = state.port(port.name).queue
        own = _OWN_LIMITS.get(queue.kind, 0) if queue else 0
        limits.append((at_ns, (queue and (queue.limit_bytes or queue.limit_frames)) or own))
    return limits


class Followers:
    """A process for each port that follows a trace: whatever else happens, it is there at the millisecond."""

    def __init__(self, network: "Network") -> None:
        self._network = network
        self._processes: dict[str, int] = {}

    def start(self, ready_ns: int, folder: Path) -> None:
        """Have all follow from ``ready_ns`` on, until ``stop``; each leaves its file in ``folder``."""
        plan = self._network.plan
        for port in plan.ports:
            trace = plan.trace(port.shape) if port.shape else None
            if trace is None:
                continue
            with self._network.inside(port.node):
                bucket = _Bucket(port)
            child = os.fork()
            if not child:
                _follow(bucket, trace, _limits(plan, port), ready_ns, _file(folder, port.name))
            self._processes[port.name] = child

    def stop(self, folder: Path) -> None:
        """End them, and leave what they did in one file. Raises RuntimeError for one that failed."""
        done: dict[str, Sequence[Sequence[int]]] = {}
        for name, process in self._processes.items():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
            os.waitpid(process, 0)
            told: Mapping[str, Sequence[Sequence[int]]] = json.loads(_file(folder, name).read_text())
            _file(folder, name).unlink()
            if "error" in told:
                raise RuntimeError(f"{name} no longer follows its trace: {told['error']}")
            done[name] = told["instants"]
        if done:
            (folder / FILE).write_text(json.dumps(done, separators=(",", ":")) + "\n")


def _file(folder: Path, port: str) -> Path:
    return folder / f"trace-{port}.json"


def _follow(
    bucket: _Bucket, trace: Trace, limits: list[tuple[int, int]], ready_ns: int, file: Path
) -> NoReturn:
    """Fill a bucket at each instant of a trace, until a signal says that it is enough."""
    stopped: list[int] = []
    done: list[tuple[int, int, int]] = []
    told: Mapping[str, object] = {"instants": done}
    try:
        # Before whoever computes without end: it would be late by a slice of the scheduler's.
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
        for at_ns, opportunities in trace.instants():
            with contextlib.suppress(InterruptedError):
                clock.wake_at(ready_ns + at_ns)
            if stopped:
                break
            now_ns = clock.now_ns() - ready_ns
            while len(limits) > 1 and limits[1][0] <= at_ns:
                limits.pop(0)
            done.append((now_ns, opportunities, bucket.fill(opportunities, limits[0][1])))
    except BaseException:  # noqa: BLE001 - whatever it is, the parent says it
        told = {"error": traceback.format_exc()}
    finally:
        file.write_text(json.dumps(told, separators=(",", ":")))
        # Not what the parent still has to do.
        os._exit(0)
