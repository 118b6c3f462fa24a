"""What can be said at the prompt of ``wirelab shell``, how it is understood, and how a lab is spoken to."""

from __future__ import annotations

import os
import threading
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from wirelab.errors import InputError, LabError
from wirelab.lab.prompt import Prompt, Says, Stands
from wirelab.model.cases import fixed, varied
from wirelab.model.experiment import load
from wirelab.model.yamlfile import read
from wirelab.plan.build import build_plan
from wirelab.plan.types import Event
from wirelab.results.record import Connection, Dropped, Fill, Kind
from wirelab.shell.around import Around
from wirelab.shell.change import change
from wirelab.shell.command import (
    Again,
    Back,
    Help,
    Program,
    Quit,
    Run,
    Save,
    Set,
    Show,
    Start,
    Step,
    Watch,
    Where,
    read_command,
)
from wirelab.shell.completion import completions
from wirelab.shell.condition import read_condition
from wirelab.shell.help import help_text
from wirelab.shell.instant import shown
from wirelab.shell.picture import MOST_FRAMES, bars, described
from wirelab.shell.places import read_places
from wirelab.shell.sentence import Words, heard
from wirelab.shell.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from wirelab.lab.select import Lab
    from wirelab.shell.command import Command

SCENARIO = Path(__file__).parents[2] / "scenarios" / "sfp-mismatch.yaml"
EXPERIMENT = load(str(SCENARIO), Path.cwd())
CASE = EXPERIMENT.cases[0]
PLAN = build_plan(EXPERIMENT, CASE, 1)
MS = 1_000_000
WORDS = Words(PLAN, 0)
# What the driver shows of two ports, see kernel/driver/show.c.
SHOWN = """\
port module-line 1 2500 90000
queue 3028 2 16384
frame 88 1514 1 HEADERS
frame 0 1514 2
tx_ring 0 0 1
wire 1514 1 0
frame 87 1514 1
cable 0 0 0
buffer 100 0 38824
rx_fifo 0 0 0
rx_ring 0 0 1
rx_done 0 0 0
forwarding 0 0 0
port client-eth0 0 0 0
queue 10 1 0
tx_ring 0 0 256
wire 0 0 0
cable 0 0 0
buffer 0 0 65536
rx_fifo 0 0 0
rx_ring 0 0 256
rx_done 0 0 0
forwarding 0 0 0
""".replace(
    "HEADERS",
    "0200000004010200000001010800450005dcdb8c40004006458d0a0000010a0000029c421452ee137401725fb3995010003f19d10000",
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", None),
        ("  # a remark", None),
        ("help", Help(None)),
        ("help run", Help("run")),
        ("quit", Quit()),
        ("run 10 ms", Run(10 * MS)),
        ("  run   1 s ", Run(1000 * MS)),
        ("step", Step(1)),
        ("step 20", Step(20)),
        ("show", Show(())),
        ("show module client", Show(("module", "client"))),
        ("where 107", Where(107)),
        ("start", Start(())),
        ("start download", Start(("download",))),
        ("back 200 us", Back(200_000)),
        ("set module.fifo 32 KiB", Set("module.fifo", "32 KiB")),
        ("set module.fifo = 32 KiB", Set("module.fifo", "32 KiB")),
        ("again", Again()),
        ("again module.fifo=64 KiB", Again("module.fifo", "64 KiB")),
        ("save mine.yaml", Save("mine.yaml")),
        ("watch 10 ms", Watch(10 * MS, MS)),
        ("watch 10 ms at 5 us", Watch(10 * MS, 5000)),
        ("client ping -c 3 server", Program("client", ("ping", "-c", "3", "10.0.0.1"), in_background=False)),
        ("server iperf3 -s &", Program("server", ("iperf3", "-s"), in_background=True)),
        ("switch sh -c 'echo server'", Program("switch", ("sh", "-c", "echo server"), in_background=False)),
    ],
)
def test_a_line_is_understood(line: str, said: Command | None) -> None:
    """The prompt's own words; the name of a node begins a program there, in which hosts are addresses."""
    assert read_command(line, PLAN) == said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("ruN 10 ms", "did you mean `run`"),
        ("clinet ping server", "did you mean `client`"),
        ("run", "run what. Write for example `run 10 ms`"),
        ("run 10", "10"),
        ("run 0 s", "no time passes"),
        ("run until", "nothing to wait for|until"),
        ("run until module.line falls", "unknown event `falls`"),
        ("run until module.lane drops", "did you mean `module.line`"),
        ("run until module.line.queue > 10", "10"),
        ("run until module.line.que > 10 KiB", "did you mean `queue`"),
        ("run until downlod.cwnd < 10", "did you mean `download`"),
        ("run until download.cwnd < 0", "never comes true"),
        ("run until module.line drops within 1", "1"),
        ("step 0", "begins with 1"),
        ("step some", "some"),
        ("where", "where what"),
        ("back", "back what"),
        ("set module.fifo", "to what"),
        ("save", "save what"),
        ("start uplaod", "did you mean `upload`"),
        ("client", "client what"),
        ("client sh -c 'echo", "No closing quotation"),
    ],
)
def test_a_line_that_makes_no_sense_says_what_would(line: str, words: str) -> None:
    """The nearest right word, or an example."""
    with pytest.raises(InputError, match=words):
        read_command(line, PLAN)


def tcp(cwnd: int, ends: tuple[int, int]) -> Connection:
    """The state of a connection's end."""
    figures: dict[str, Any] = dict.fromkeys((field.name for field in fields(Connection)), 0)
    local, remote = ends
    named = {"kind": Kind.TCP, "port": "", "local_port": local, "remote_port": remote, "cwnd_frames": cwnd}
    return Connection(**{**figures, **named})


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("module.line drops", "at 11 module-line"),
        ("switch.p1 pauses", "at 12 switch-p1"),
        ("server sends", "at 5 server-eth0"),
        ("client receives", "at 6 client-eth0"),
        ("module.line.queue > 10 KiB", "fill 3 module-line bytes > 10240"),
        ("module.line.queue<=10 KiB", "fill 4 module-line bytes < 10241"),
        ("module.host.buffer >= 1 KiB", "fill 7 module-host bytes > 1023"),
        ("client.rx_ring > 20", "fill 9 client-eth0 frames > 20"),
        ("download.cwnd < 10", "tcp 40002 5202 cwnd < 10"),
        ("download.srtt > 1 ms", "tcp 40002 5202 srtt_8us > 8000"),
        ("upload.rto > 1 s", "tcp 40001 5201 rto_us > 1000000"),
    ],
)
def test_a_condition_is_worded_as_the_driver_has_it(text: str, words: str) -> None:
    """kernel/driver/condition.c reads that."""
    assert read_condition(text, PLAN).words == words


def test_a_condition_knows_what_has_made_it_true() -> None:
    """By kind, port and figure; of a connection by both its ends."""
    cwnd = read_condition("download.cwnd < 10", PLAN)
    assert cwnd.holds(tcp(9, (40002, 5202)))
    assert not cwnd.holds(tcp(10, (40002, 5202)))
    assert not cwnd.holds(tcp(9, (5202, 40002)))
    drops = read_condition("module.line drops", PLAN)
    drop = Dropped(0, Kind.DROPPED, "module-line", 1, None, 0, 0)
    assert drops.holds(drop)
    assert not drops.holds(Dropped(0, Kind.DROPPED, "switch-p2", 1, None, 0, 0))
    queue = read_condition("module.line.queue > 10 KiB", PLAN)
    assert not queue.holds(drop)
    assert queue.holds(Fill(0, Kind.QUEUED, "module-line", 1, 10241, 7))
    assert not queue.holds(Fill(0, Kind.QUEUED, "module-line", 1, 10240, 7))


def test_what_waits_is_told_place_by_place() -> None:
    """With its frames; a port where nothing waits is named in the end; of many frames how many more."""
    ports = read_places(SHOWN)
    lines = list(described(ports, WORDS, 80_000))
    assert lines[0] == "module.line  2.50 Gbit/s, paused until 0.000090 ms"
    assert "  egress queue: 3028 B of 16 KiB in 2 frames" in lines
    assert any("88  tcp of download, server:40002 to client:5202" in line for line in lines)
    assert "           -  1514 B, to be 2 segments" in lines
    assert "client  no link" in lines
    ports[0].places[0].frames *= MOST_FRAMES
    assert f"{'':>12}  and {MOST_FRAMES} more" in list(described(ports, WORDS, 0))
    ports[1].places[0].fill_bytes = ports[1].places[0].fill_frames = 0
    assert list(described(ports, WORDS, 0))[-1] == "nothing waits at client"
    drawn = bars(ports, WORDS, 1_500_000, 100_000, 200)
    assert drawn[0] == "1.500000 ms"
    assert "####+..................." in drawn[1]
    assert all(len(line) <= 30 for line in bars(ports, WORDS, 0, 0, 30))
    with pytest.raises(LabError, match="nobody understands"):
        read_places("queue 1 2 3\n")
    with pytest.raises(LabError, match="nobody understands"):
        read_places("port p 1 x 0\n")


def test_an_instant_has_nanoseconds() -> None:
    """In milliseconds, so that two of them compare at a glance."""
    assert [shown(ns) for ns in (0, 1, 12_345_678, -5)] == [
        "0.000000 ms", "0.000001 ms", "12.345678 ms", "-0.000005 ms",
    ]  # fmt: skip


def test_help_has_every_word_and_every_node() -> None:
    """And more of each; of no other."""
    whole = help_text(None, PLAN, 120)
    for word in ("start", "run", "step", "show", "where", "back", "set", "again", "save", "watch", "quit"):
        assert f"\n{word}" in f"\n{whole}"
        assert help_text(word, PLAN, 120)
    assert "nodes: server, client, switch, module" in whole
    with pytest.raises(InputError, match="did you mean `watch`"):
        help_text("wach", PLAN, 120)


@pytest.mark.parametrize(
    ("line", "among", "alone"),
    [
        ("", ["run", "show", "server", "module"], False),
        ("sho", ["show"], True),
        ("run until module.l", ["module.line", "module.line.queue"], False),
        ("run until module.line dr", ["drops"], True),
        ("run until download.c", ["download.cwnd"], True),
        ("start d", ["download"], True),
        ("show module.h", ["module.host"], True),
        ("set module.fi", ["module.fifo"], True),
        ("again module.fifo ", [], True),
        ("help wa", ["watch"], True),
        ("server pi", ["ping -c 3"], True),
        ("server ping cl", ["client"], True),
        ("nonsense ", [], True),
    ],
)
def test_a_line_is_completed(line: str, among: list[str], alone: bool) -> None:  # noqa: FBT001 - a parameter
    """By words, nodes, ports, flows, conditions and settings of this network."""
    found = completions(line, PLAN, CASE)
    assert set(among) <= set(found)
    assert not alone or found == among


def test_a_setting_that_changes_becomes_an_event_of_its_ports() -> None:
    """Only what is otherwise; what is so already, or needs another network, says so."""
    after = build_plan(EXPERIMENT, varied(CASE, {"module.fifo": "32 KiB"}), 1)
    event = change(PLAN, after, "module.fifo 32 KiB")
    assert {port.label for port in event.ports} == {"module.host", "module.line"}
    assert not event.cables
    with pytest.raises(InputError, match="so already"):
        change(after, after, "module.fifo 32 KiB")
    slow = build_plan(EXPERIMENT, varied(CASE, {"server.delay": "1 ms"}), 1)
    with pytest.raises(InputError, match="server has netem from the beginning, or never") as refused:
        change(PLAN, slow, "server.delay 1 ms")
    assert refused.value.hint == "again server.delay 1 ms"
    assert fixed(CASE, "server.rx_ring")
    assert not fixed(CASE, "module.fifo")


def test_what_a_session_began_with_is_saved_as_well(tmp_path: Path) -> None:
    """Settings on top of a variant, as `--set` has them, are of the network; what may not be said is not."""

    def permit(said: Command) -> None:
        if isinstance(said, Set):
            raise InputError("not here")

    session = Session(
        cast("Lab", None),
        EXPERIMENT,
        EXPERIMENT.cases[0],
        seed=1,
        cpu=0,
        written=read(SCENARIO).tree,
        settings=[("module.fifo", "64 KiB")],
        around=Around(permit=permit),
    )
    assert "module.fifo 64 KiB" in session.plan.variant
    assert list(session.tell(f"save {tmp_path}/mine.yaml"))
    assert load(f"{tmp_path}/mine.yaml", tmp_path).scenario.settings["module.fifo"] == "64 KiB"
    with pytest.raises(InputError, match="not here"):
        list(session.tell("set module.fifo 32 KiB"))


def conversation(lab: Callable[[int, int], object]) -> tuple[Prompt, threading.Thread]:
    """A prompt, and at its other end whoever plays the lab."""
    prompt = Prompt()
    thread = threading.Thread(target=lab, args=prompt.of_the_lab)
    thread.start()
    return prompt, thread


def test_a_lab_is_told_and_answers() -> None:
    """Until it stands; what it says comes whole, wherever the pipe cuts it."""
    asked = []

    def lab(reads: int, writes: int) -> None:
        asked.append(os.read(reads, 100))
        os.write(writes, b'says 6\n{"out"')
        os.write(writes, b'says 8\n: "a"}\n{says 2\n}\nstands 12 time\n')

    prompt, thread = conversation(lab)
    assert list(prompt.run(12, "at 11 p")) == [Says({"out": "a"}), Says({}), Stands(12, "time")]
    thread.join()
    assert asked == [b"run 12 at 11 p\n"]
    prompt.close()


@pytest.mark.parametrize(
    "said", [b"stands x time\n", b"what\n", b"says 3\n{]\n", b"says 3\n[]\n", b"says x\n", b"shows 1\n"]
)
def test_what_a_lab_cannot_say_is_an_error(said: bytes) -> None:
    """Root of a lab can have it say anything."""
    prompt, thread = conversation(lambda _, writes: os.write(writes, said))
    with pytest.raises(LabError, match="nobody understands"):
        list(prompt.until_it_stands())
    thread.join()
    prompt.close()


def hang_up(*descriptors: int) -> None:
    """Play a lab that has ended."""
    for descriptor in descriptors:
        os.close(descriptor)


def test_a_lab_that_ends_is_noticed() -> None:
    """Whoever looks after it is asked why, first."""
    prompt, thread = conversation(hang_up)
    thread.join()
    looked = []
    prompt.on_look = lambda: looked.append(1)
    with pytest.raises(LabError, match="the lab has ended"):
        list(prompt.until_it_stands())
    with pytest.raises(LabError, match="the lab has ended"):
        list(prompt.tell({"do": "run"}))
    assert looked
    prompt.close()


def test_what_a_program_prints_is_text() -> None:
    """Whatever bytes these are; a code of 0 is not told."""
    assert list(heard({"out": "a\xff"}, ())) == ["a\N{REPLACEMENT CHARACTER}"]
    assert list(heard({"out": "\xc3\xa4"}, ())) == ["ä"]
    assert list(heard({"out": 3}, ())) == []
    assert list(heard({"done": {"code": 0}}, ())) == []
    assert list(heard({"done": {"code": 3}}, ())) == ["exit 3\n"]
    assert list(heard({"note": "the traffic is over"}, ())) == ["the traffic is over\n"]


def test_an_event_that_has_happened_is_told_in_the_words_of_the_scenario() -> None:
    """By its number; root of the lab can say any, which nobody takes for an event then."""
    events = [Event(0, "client.link down", (), ())]
    assert list(heard({"event": 0}, events)) == ["event: client.link down\n"]
    for number in (1, -1, True, "0", None):
        assert list(heard({"event": number}, events)) == []
