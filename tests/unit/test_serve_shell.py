"""Shells of a class, over a real socket: who gets one, who does not, and what is left when it ends."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pytest
from served import PretendTestbed, Served, Visitor, made_room, serving
from students import HERE, PREDICTED, kept, ready
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection, connect

from wirelab.errors import InputError
from wirelab.plan.build import build_plan
from wirelab.serve import shell
from wirelab.serve.bench import file_of, scenario_called
from wirelab.serve.shells import Shells
from wirelab.shell.command import read_command
from wirelab.shell.session import Picture

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wirelab.serve.shell import ShellSetup
    from wirelab.shell.around import Around

BENCH = "/bench/sfp-mismatch/shell/socket"
EXERCISE = f"{HERE}/shell/socket"
WAIT_S = 20


class PretendSession:
    """Answers as a session does, without a lab. `run` lasts until it is interrupted."""

    alive = 0

    def __init__(self, setup: ShellSetup, around: Around) -> None:
        self.around = around
        self.columns = 0
        self.is_over = False
        self.now = "0 ms"
        self.setup = setup
        [case, *_] = scenario_called("sfp-mismatch").cases
        self.plan = build_plan(scenario_called("sfp-mismatch"), case, 1)
        self._is_cut = threading.Event()

    def __enter__(self) -> Self:
        """It is there."""
        PretendSession.alive += 1
        return self

    def __exit__(self, *_: object) -> None:
        """It is gone."""
        PretendSession.alive -= 1

    def tell(self, line: str) -> Iterator[str | Picture]:
        """What some lines give."""
        said = read_command(line, self.plan)
        if said is not None:
            self.around.permit(said)
        word, _, rest = line.partition(" ")
        match word:
            case "quit":
                self.is_over = True
            case "run":
                yield "it runs\n"
                while not self._is_cut.wait(0.01):
                    self.around.on_look()
                yield "interrupted\n"
            case "watch":
                yield Picture(["one"])
                yield Picture(["two"])
            case "save":
                self.around.keep(Path(rest), file_of("sfp-mismatch").read_text(encoding="utf-8"))
            case "show":
                for _ in range(300):
                    yield "a thousand letters.\n" * 50
            case _:
                yield f"columns {self.columns}, {line}\n"

    def interrupt(self) -> None:
        """End `run`."""
        self._is_cut.set()

    def completions(self, line: str) -> list[str]:
        """Always the same."""
        return [f"{line}wn", "where"]


def sessions(setup: ShellSetup, cpu: int, around: Around) -> Any:  # noqa: ANN401 - as good as a session
    """What the shells of these tests are."""
    del cpu
    return PretendSession(setup, around)


@contextmanager
def one_shell(folder: Path) -> Iterator[Served]:
    """A classroom with one shell, whose sessions have all ended when it closes."""
    testbed = PretendTestbed()
    shells = Shells(sessions, [0], 1)
    with serving(made_room(folder, testbed, shells=shells), testbed) as answers:
        yield answers
    wait_until(lambda: PretendSession.alive == 0)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A classroom with one shell."""
    with one_shell(tmp_path / "class") as answers:
        yield answers


def wait_until(comes_true: Any) -> None:  # noqa: ANN401 - a function
    """Wait until something is so."""
    deadline_s = time.monotonic() + WAIT_S
    while not comes_true():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


def socket(served: Served, visitor: Visitor, path: str, **others: str) -> ClientConnection:
    """A socket as a page of ours opens it."""
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in visitor.jar)
    sent = {"Cookie": cookies, "Origin": re.sub(r"(//[^/]*).*", r"\1", served.url), **others}
    address = served.url.replace("http", "ws", 1) + path
    headers = {name: text for name, text in sent.items() if text}
    # A test is over before it matters whether it was closed.
    return connect(address, additional_headers=headers, proxy=None).__enter__()


def opened(served: Served, visitor: Visitor, path: str = BENCH, **said: Any) -> ClientConnection:  # noqa: ANN401 - JSON
    """The same, when the page has said who it is."""
    line = socket(served, visitor, path)
    line.send(json.dumps({"open": visitor.csrf, "columns": 99, **said}))
    return line


def told(line: ClientConnection, last: str = "prompt") -> list[dict[str, Any]]:
    """All that comes until a message that has ``last``."""
    found: list[dict[str, Any]] = []
    while not found or last not in found[-1]:
        found.append(json.loads(line.recv(WAIT_S)))
    return found


def refused(line: ClientConnection) -> str:
    """Why a socket is closed that was opened."""
    [only] = told(line, "ended")
    with pytest.raises(ConnectionClosed):
        line.recv(WAIT_S)
    return str(only["ended"])


def test_lines_are_answered_until_the_page_goes(served: Served) -> None:
    """In order, with the prompt behind each; words are completed, pictures come; then nothing is left."""
    line = opened(served, served.student())
    assert told(line) == [{"prompt": "0 ms"}]
    line.send(json.dumps({"line": "help"}))
    assert told(line) == [{"text": "columns 99, help\n"}, {"prompt": "0 ms"}]
    line.send(json.dumps({"complete": "sho"}))
    assert told(line, "words") == [{"words": ["shown", "where"]}]
    line.send(json.dumps({"line": "watch 1 s"}))
    assert told(line)[:2] == [{"picture": ["one"]}, {"picture": ["two"]}]
    line.send(json.dumps({"line": "hlep"}))
    assert "did you mean `help`" in told(line)[0]["refused"][0]
    assert PretendSession.alive == 1
    line.close()
    wait_until(lambda: PretendSession.alive == served.room.shells.count() == 0)


def test_what_runs_can_be_interrupted(served: Served) -> None:
    """The network lives on; a line that says too much, or takes too long, is interrupted by itself."""
    line = opened(served, served.student())
    told(line)
    line.send(json.dumps({"line": "run 1 s"}))
    assert told(line, "text") == [{"text": "it runs\n"}]
    line.send(json.dumps({"stop": True}))
    assert [message["text"] for message in told(line)[:-1]] == ["interrupted\n"]
    line.send(json.dumps({"line": "show"}))
    answer = told(line)
    assert sum(len(message.get("text", "")) for message in answer) < 2 * shell.COMMAND_LETTERS
    assert any("longer than 200000 characters" in message.get("note", "") for message in answer)


def test_limits_of_time(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes too long is interrupted, and without a line the lab is switched off; both are told."""
    monkeypatch.setattr(shell, "COMMAND_S", 0.1)
    line = opened(served, served.student())
    told(line)
    line.send(json.dumps({"line": "run 1 s"}))
    assert [message for message in told(line) if "note" in message]
    monkeypatch.setattr(shell, "IDLE_S", 0.1)
    line.send(json.dumps({"line": "help"}))
    assert "the lab has been shut down" in told(line, "ended")[-1]["ended"]


def test_quit_ends_it(served: Served) -> None:
    """And the page is told."""
    line = opened(served, served.student())
    line.send(json.dumps({"line": "quit"}))
    assert told(line, "ended")[-1] == {"ended": "The lab has been shut down."}


def test_a_scenario_is_saved_in_the_browser(served: Served, tmp_path: Path) -> None:
    """Its text goes to the page by its last name; nothing is written where the server is."""
    line = opened(served, served.student())
    line.send(json.dumps({"line": f"save {tmp_path}/mine.yaml"}))
    [file] = [message for message in told(line, "file") if "file" in message]
    assert file["file"] == "mine.yaml"
    assert "sfp-mismatch" in file["content"]
    assert not (tmp_path / "mine.yaml").exists()


@pytest.mark.parametrize("name", [f"{'a' * 300}.yaml", "a.yml/..", "mine"])
def test_a_name_that_no_file_can_have_is_refused_in_the_browser(served: Served, name: str) -> None:
    """Without a word of where the server has its files; the shell stays."""
    line = opened(served, served.student())
    line.send(json.dumps({"line": f"save {name}"}))
    [said] = [message for message in told(line, "refused") if "refused" in message]
    assert "/" not in f"{said['refused']}{said['hint']}"
    line.send(json.dumps({"line": f"save {name[:9]}.yaml"}))
    assert any("file" in message for message in told(line, "file"))


@pytest.mark.parametrize(
    "headers",
    [{"Cookie": ""}, {"Cookie": "wirelab=made.up"}, {"Origin": "http://evil.example"}, {"Origin": ""}],
)
def test_a_socket_from_elsewhere_or_of_nobody_is_none(served: Served, headers: dict[str, str]) -> None:
    """403, before anything is said; so it is for who has not joined."""
    with pytest.raises(InvalidStatus) as error:
        socket(served, served.student(), BENCH, **headers)
    assert error.value.response.status_code == 403
    assert served.room.shells.count() == 0


def test_a_page_without_its_token_gets_none(served: Served) -> None:
    """As with a form."""
    assert "has expired" in refused(opened(served, served.student(), open="made up"))


@pytest.mark.parametrize(
    "said",
    [
        "no JSON",
        "[" * 3_000,
        '{"line": 7}',
        '{"line": "' + "x" * 3_000 + '"}',
        '{"other": "word"}',
        b"bytes",
        "[]",
    ],
    ids=["text", "deep", "number", "long line", "unknown", "bytes", "list"],
)
def test_nonsense_ends_it(served: Served, said: str | bytes) -> None:
    """What no page of ours says; the server goes on."""
    line = opened(served, served.student())
    told(line)
    line.send(said)
    assert "did not come from the shell" in told(line, "ended")[-1]["ended"]


def test_an_oversized_message_closes_the_connection(served: Served) -> None:
    """Before it has been read whole; nothing is left."""
    line = opened(served, served.student())
    told(line)
    line.send("x" * 100_000)
    with pytest.raises(ConnectionClosed) as error:
        told(line, "never")
    assert error.value.rcvd is not None
    assert error.value.rcvd.code == 1009
    wait_until(lambda: served.room.shells.count() == 0)


def test_a_lab_is_for_one_and_there_are_so_many(served: Served) -> None:
    """Where all are taken it is said why; one's own older one ends for a new one."""
    ada, bob = served.student("Ada"), served.student("Bob")
    first = opened(served, ada)
    told(first)
    assert "All shells of this server are in use" in refused(opened(served, bob))
    second = opened(served, ada)
    told(second)
    assert "another window" in told(first, "ended")[-1]["ended"]
    second.close()
    wait_until(lambda: served.room.shells.count() == 0)
    told(opened(served, bob))


def test_what_is_to_be_predicted_is_predicted_first(served: Served) -> None:
    """Nothing is shown before they are sealed, nor before the network was run; nor anybody else's."""
    eve = served.student("Eve")
    eve.get(HERE)
    assert "predict first" in refused(opened(served, eve, EXERCISE))
    ready(served, "Ada")
    assert "predict first" in eve.get(f"{HERE}/shell").text
    assert "predict first" in refused(opened(served, eve, EXERCISE))
    eve.post(f"{HERE}/seal", **PREDICTED)
    assert "Run this network first" in refused(opened(served, eve, EXERCISE))


def test_it_counts_as_an_experiment_once(served: Served) -> None:
    """Opened again it is the same network; settings are for experiments, and do not change at the prompt."""
    ada = ready(served)
    assert "experiments left: 4" in ada.get(f"{HERE}/shell").text
    assert kept(served).work.count("experiment") == 0
    line = opened(served, ada, EXERCISE)
    told(line)
    for said in ("set module.fifo 64 KiB", "again module.fifo 64 KiB"):
        line.send(json.dumps({"line": said}))
        assert "nothing can be changed at the prompt" in told(line)[0]["refused"][0]
    line.close()
    told(opened(served, ada, EXERCISE))
    ada.get(HERE)
    assert kept(served).work.count("experiment") == 1
    assert "opening it again is free" in ada.get(f"{HERE}/shell").text


def test_a_hidden_fault_stays_hidden(served: Served) -> None:
    """A technician has no shell, for it would show the fault; nor a way to it on the page."""
    ada = served.student()
    here = "/exercises/mystery-network"
    assert "fault is hidden in this network" in ada.get(f"{here}/shell").text
    assert "fault is hidden in this network" in refused(opened(served, ada, f"{here}/shell/socket"))
    assert "Stop the clock" not in ada.get(here).text


def test_the_teacher_s_bench_has_one_and_a_stranger_s_has_none(served: Served) -> None:
    """A stranger is asked to join; the knobs as they are turned lead to the shell of that network."""
    stranger = served.visitor()
    assert "Join a class first" in stranger.get("/bench/sfp-mismatch/shell").text
    teacher = served.teacher()
    teacher.get("/bench/sfp-mismatch")
    answer = teacher.post("/bench/sfp-mismatch/shell", with__module__fifo="64 KiB")
    assert "with.module.fifo=64%20KiB" in answer.url
    assert "--set=module.fifo=64 KiB" in answer.text
    told(opened(served, teacher))


def test_all_end_with_the_server(tmp_path: Path) -> None:
    """None is left, and none is opened any more."""
    testbed = PretendTestbed()
    shells = Shells(sessions, [0], 2)
    with serving(made_room(tmp_path / "class", testbed, shells=shells), testbed) as answers:
        line = opened(answers, answers.student())
        told(line)
    assert PretendSession.alive == 0
    with pytest.raises(InputError, match=r"shell\.none"):
        shells.require_room("student:1")


def test_it_works_below_a_path_of_a_proxy(tmp_path: Path) -> None:
    """The page names its socket below it."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed, root="/lab", shells=Shells(sessions, [0], 1))
    with serving(room, testbed, "/lab") as answers:
        teacher = answers.teacher()
        assert (
            'data-socket="/lab/bench/sfp-mismatch/shell/socket?'
            in teacher.get("/bench/sfp-mismatch/shell").text
        )
        told(opened(answers, teacher))
