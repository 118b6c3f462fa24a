"""Inside the lab: ports that are set to anything at random while traffic runs over them.

Arguments: a seed, how many steps. p1 = p2 (bridge) p3 = p4 and p5 = p6 carry flows; p7 and p8 are deleted and
made anew, p9 and p10 have eight queues, and all but the bridge's move between namespaces. Every few hundred
steps the traffic ends, what waits is let go, and what each port has counted must add up.

Prints how often each step was taken and how often it was refused, and each sum that was wrong.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from choices import CALM, NUMBERS, OF_THE_STACK, QDISCS, SPEEDS, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

NAMESPACES = ("a", "b", "c")
CABLES = (("p1", "p2"), ("p3", "p4"), ("p5", "p6"), ("p7", "p8"), ("p9", "p10"))
PORTS = tuple(port for cable in CABLES for port in cable)
BRIDGED = ("p2", "p3")
MADE_ANEW = ("p7", "p8")
EIGHT_QUEUES = ("p9", "p10")
ADDRESSES = {
    "p1": ("a", "10.0.0.1"),
    "p4": ("b", "10.0.0.2"),
    "p5": ("a", "10.0.1.1"),
    "p6": ("b", "10.0.1.2"),
}
FLOWS = (("a", "10.0.0.2"), ("b", "10.0.0.1"), ("a", "10.0.1.2"), ("b", "10.0.1.1"))
CHECKED_EVERY = 500
LONGEST_PAUSE_S = 0.005
CONTROL_FRAME = bytes.fromhex("0180c2000001 020000000002 8808")


def run(*argv: str) -> bool:
    """Run a command; whether it was done and not refused."""
    return subprocess.run(argv, check=False, capture_output=True).returncode == 0


def told(*argv: str) -> str:
    """What a command says."""
    return subprocess.run(argv, check=True, capture_output=True, text=True).stdout


class Network:
    """The ports, where each of them is, and the programs that send over them."""

    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._at = dict.fromkeys(PORTS, "")
        self._home = os.open("/proc/self/ns/net", os.O_RDONLY)
        self._handles = {"": self._home}
        self._sysfs = {"": Path("/sys")}
        self._programs: list[subprocess.Popen[bytes]] = []
        self.taken: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._build()

    def _build(self) -> None:
        # Whatever the kernel complains of ends the lab, with its words on the console.
        Path("/proc/sys/kernel/panic_on_warn").write_text("1")
        Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
        for name in NAMESPACES:
            assert run("ip", "netns", "add", name)
            self._handles[name] = os.open(f"/run/netns/{name}", os.O_RDONLY)
            self._sysfs[name] = Path(f"/run/sysfs-{name}")
            self._sysfs[name].mkdir()
            self._enter(name)
            assert run("mount", "-t", "sysfs", "none", str(self._sysfs[name]))
            assert run("ip", "link", "set", "lo", "up")
        self._enter("")
        assert run("ip", "link", "add", "br0", "type", "bridge", "mcast_snooping", "0")
        assert run("ip", "link", "set", "br0", "up")
        for cable in CABLES:
            self._plug(*cable)
        for port in BRIDGED:
            self._write(port, "role", "forward")
            assert run("ip", "link", "set", port, "master", "br0")
        for port, (place, address) in ADDRESSES.items():
            self._move(port, place)
            assert self._on(port, "ip", "address", "add", f"{address}/24", "dev", port)
        for port in PORTS:
            assert self._on(port, "ip", "link", "set", port, "up")

    def _enter(self, place: str) -> None:
        os.setns(self._handles[place], 0)  # type: ignore[attr-defined] # from Python 3.12 on, as the lab has

    def _on(self, port: str, *argv: str) -> bool:
        """Run a command where a port is."""
        self._enter(self._at[port])
        return run(*argv)

    def _plug(self, one: str, other: str) -> None:
        """Make two ports with a cable, at home."""
        self._enter("")
        for port, link in ((one, ()), (other, ("link", one))):
            queues = "8" if port in EIGHT_QUEUES else "1"
            made = ("name", port, "numtxqueues", queues, "type", "etherport")
            assert run("ip", "link", "add", *link, *made), made
            self._at[port] = ""

    def _move(self, port: str, place: str) -> bool:
        moved = self._on(port, "ip", "link", "set", port, "netns", place)
        if moved:
            self._at[port] = place
        return moved

    def _write(self, port: str, name: str, value: object) -> bool:
        folder = self._sysfs[self._at[port]] / "class/net" / port
        try:
            (folder / ("" if name in OF_THE_STACK else "etherport") / name).write_text(f"{value}\n")
        except OSError:
            return False
        return True

    # Steps: each does something to a port, and says whether it was let.

    def _state(self, port: str) -> bool:
        return self._on(port, "ip", "link", "set", port, self._dice.choice(("up", "up", "down")))

    def _mtu(self, port: str) -> bool:
        return self._on(port, "ip", "link", "set", port, "mtu", str(self._dice.randint(68, 9216)))

    def _rings(self, port: str) -> bool:
        sizes = (str(self._dice.randint(0, 300)) for _ in range(2))
        return self._on(port, "ethtool", "-G", port, *("rx", next(sizes), "tx", next(sizes)))

    def _moderation(self, port: str) -> bool:
        options = [
            *("rx-usecs", "rx-frames", "tx-usecs", "tx-frames"),
            *("adaptive-rx", "adaptive-tx", "cqe-mode-rx"),
        ]
        words: list[str] = []
        for option in self._dice.sample(options, self._dice.randint(1, 4)):
            switch = "-rx" in option or "-tx" in option
            words += [option, self._dice.choice(("on", "off")) if switch else str(self._dice.randint(0, 200))]
        return self._on(port, "ethtool", "-C", port, *words)

    def _flow_control(self, port: str) -> bool:
        words = [
            word for option in ("autoneg", "rx", "tx") for word in (option, self._dice.choice(("on", "off")))
        ]
        return self._on(port, "ethtool", "-A", port, *words)

    def _speed(self, port: str) -> bool:
        if self._dice.random() < 0.4:
            return self._on(port, "ethtool", "-s", port, "autoneg", "on")
        speed, duplex = self._dice.choice(SPEEDS), self._dice.choice(("full", "full", "half"))
        forced = ("speed", str(speed), "duplex", duplex, "autoneg", "off")
        return self._on(port, "ethtool", "-s", port, *forced)

    def _offloads(self, port: str) -> bool:
        feature = self._dice.choice(("tso", "gso", "gro", "sg", "tx", "rx"))
        return self._on(port, "ethtool", "-K", port, feature, self._dice.choice(("on", "off")))

    def _qdisc(self, port: str) -> bool:
        if self._dice.random() < 0.1:
            return self._on(port, "tc", "qdisc", "delete", "dev", port, "root")
        qdisc = self._dice.choice(QDISCS).split()
        return self._on(port, "tc", "qdisc", "replace", "dev", port, "root", *qdisc)

    def _number(self, port: str) -> bool:
        name = self._dice.choice(tuple(NUMBERS))
        value = 0 if self._dice.random() < 0.4 else self._dice.randint(0, NUMBERS[name])
        return self._write(port, name, value)

    def _word(self, port: str) -> bool:
        name = self._dice.choice(tuple(WORDS))
        return self._write(port, name, self._dice.choice(WORDS[name]))

    def _priorities(self, port: str) -> bool:
        switch = self._dice.choice(("all:off", "3:on", "4:on", "all:on"))
        return self._on(port, "dcb", "pfc", "set", "dev", port, "prio-pfc", switch)

    def _place(self, port: str) -> bool:
        return port not in BRIDGED and self._move(port, self._dice.choice(NAMESPACES))

    def _bridge(self, port: str) -> bool:
        master = self._dice.choice((("master", "br0"), ("nomaster",)))
        return port in BRIDGED and self._on(port, "ip", "link", "set", port, *master)

    def _anew(self, _: str) -> bool:
        for port in MADE_ANEW:
            assert self._on(port, "ip", "link", "delete", port)
        self._plug(*MADE_ANEW)
        return all(self._on(port, "ip", "link", "set", port, "up") for port in MADE_ANEW)

    def _frames(self, port: str) -> bool:
        """A burst from a packet socket, some of it MAC control frames."""
        self._enter(self._at[port])
        try:
            with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
                out.bind((port, 0))
                for _ in range(self._dice.randint(1, 20)):
                    out.send(self._frame())
        except OSError:
            return False
        return True

    def _frame(self) -> bytes:
        chance = self._dice.random()
        if chance < 0.1:
            return CONTROL_FRAME + struct.pack("!HH", 1, self._dice.choice((0, 100, 2**16 - 1))) + bytes(42)
        if chance < 0.2:
            quanta = (self._dice.choice((0, 1000)) for _ in range(8))
            return (
                CONTROL_FRAME + struct.pack("!HH8H", 0x0101, self._dice.randrange(256), *quanta) + bytes(26)
            )
        octets = bytes.fromhex("ffffffffffff020000000003") + self._dice.randbytes(2)
        return octets + bytes(self._dice.randint(0, 2000))

    def _pktgen(self, port: str) -> bool:
        self._enter(self._at[port])
        folder = Path("/proc/thread-self/net/pktgen")
        try:
            (folder / "kpktgend_0").write_text(f"add_device {port}\n")
            # A port keeps what it is given: pktgen is told not to give it the same frame twice.
            with contextlib.suppress(OSError):
                (folder / port).write_text("clone_skb 10\n")
            for line in ("count 100", f"pkt_size {self._dice.randint(60, 1500)}"):
                (folder / port).write_text(f"{line}\n")
            (folder / "pgctrl").write_text("start\n")
            (folder / "kpktgend_0").write_text("rem_device_all\n")
        except OSError:
            return False
        return True

    def _look(self, port: str) -> bool:
        shown = self._on(port, "ethtool", "-S", port) and self._on(port, "ethtool", "-I", "-a", port)
        return shown and self._on(port, "tc", "-s", "qdisc", "show", "dev", port)

    def step(self) -> None:
        """Do something to some port."""
        steps: dict[str, tuple[Callable[[str], bool], int]] = {
            "up, down": (self._state, 8),
            "MTU": (self._mtu, 3),
            "rings": (self._rings, 5),
            "moderation": (self._moderation, 10),
            "PAUSE": (self._flow_control, 5),
            "speed": (self._speed, 8),
            "offloads": (self._offloads, 4),
            "qdisc": (self._qdisc, 8),
            "a number": (self._number, 20),
            "a word": (self._word, 5),
            "PFC": (self._priorities, 3),
            "namespace": (self._place, 3),
            "bridge": (self._bridge, 3),
            "made anew": (self._anew, 2),
            "frames": (self._frames, 10),
            "pktgen": (self._pktgen, 2),
            "a look": (self._look, 5),
        }
        [name] = self._dice.choices(tuple(steps), [weight for _, weight in steps.values()])
        self.taken[name] += 1
        if not steps[name][0](self._dice.choice(PORTS)):
            self.refused[name] += 1

    # What makes frames, and what must have become of them.

    def send(self) -> None:
        """Flows in all directions, for as long as they last."""
        self._programs = [program for program in self._programs if program.poll() is None]
        for number, (place, to) in enumerate(FLOWS):
            self._enter("b" if place == "a" else "a")
            self._start("iperf3", "-s", "-1", "-p", str(6000 + number))
            self._enter(place)
            kind = ("-u", "-b", "50M") if number % 2 else ("-b", "200M")
            self._start("iperf3", "-c", to, "-p", str(6000 + number), "-t", "1000", *kind)

    def _start(self, *argv: str) -> None:
        program = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self._programs.append(program)

    def _settle(self) -> None:
        """End the traffic and let go whatever waits."""
        for program in self._programs:
            program.kill()
            program.wait()
        self._programs = []
        for port in PORTS:
            self._on(port, "ethtool", "-C", port, *CALM)
            self._on(port, "ethtool", "-s", port, "speed", "1000", "duplex", "full", "autoneg", "off")
            self._on(port, "tc", "qdisc", "replace", "dev", port, "root", "pfifo")
            self._write(port, "follow", "")
            self._on(port, "ip", "link", "set", port, "up")
        time.sleep(30)

    def check(self, when: int) -> None:
        """Compare what each port has counted, now that nothing moves any more."""
        self._settle()
        counted = {port: self._counted(port) for port in PORTS}
        for one, other in CABLES:
            for out, into in ((counted[one], counted[other]), (counted[other], counted[one])):
                self.wrong += [f"step {when}: {problem}" for problem in problems(out, into)]

    def _counted(self, port: str) -> dict[str, int]:
        self._enter(self._at[port])
        lines = (line.partition(":") for line in told("ethtool", "-S", port).splitlines()[1:])
        [link] = json.loads(told("ip", "-s", "-j", "link", "show", port))
        folder = self._sysfs[self._at[port]] / "class/net" / port
        owed = (folder / "queues").glob("tx-*/byte_queue_limits/inflight")
        return {
            **{name.strip(): int(value) for name, _, value in lines},
            "tx_frames": link["stats64"]["tx"]["packets"],
            "rx_frames": link["stats64"]["rx"]["packets"],
            "owed_bytes": sum(int(path.read_text()) for path in owed),
        }


def problems(out: dict[str, int], into: dict[str, int]) -> Iterator[str]:
    """What does not add up of one direction of a cable."""
    here = f"{out['tx_frames']} left, {into['rx_wire_frames']} came, {out['tx_lost_frames']} were lost"
    if out["tx_frames"] != into["rx_wire_frames"] + out["tx_lost_frames"] + out["tx_flight_frames"]:
        yield f"{here}, {out['tx_flight_frames']} are on the cable"
    dropped = sum(count for name, count in into.items() if name.startswith("rx_dropped_"))
    others = into["rx_filtered_frames"]
    kept = into["rx_frames"] + others + dropped + into["rx_ring_frames"]
    if into["rx_wire_frames"] != kept:
        taken = f"{into['rx_frames']} were taken, {others} were for others"
        yield f"{into['rx_wire_frames']} came, {taken}, {dropped} dropped: {kept}"
    for name in ("tx_ring_frames", "tx_flight_frames", "rx_ring_frames", "buffer_bytes", "owed_bytes"):
        if out[name]:
            yield f"{name} is {out[name]} when all is over"


def main() -> None:
    """See above."""
    seed, steps = map(int, sys.argv[1:])
    dice = random.Random(seed)  # noqa: S311 a drawn test
    network = Network(dice)
    for number in range(1, steps + 1):
        if number % (CHECKED_EVERY // 10) == 1:
            network.send()
        network.step()
        time.sleep(dice.uniform(0, LONGEST_PAUSE_S))
        if number % CHECKED_EVERY == 0 or number == steps:
            network.check(number)
            print(json.dumps({"step": number, "wrong": network.wrong}), file=sys.stderr, flush=True)
    print(json.dumps({"taken": network.taken, "refused": network.refused, "wrong": network.wrong}))


main()
