"""What every answer of a classroom has: headers, a path to be below, words in a language, the bench."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from served import PretendTestbed, Served, made_room, serving
from students import ready

from wirelab import serve
from wirelab.cli import serve as serve_command
from wirelab.errors import InputError, LabError
from wirelab.exercise.steps import Doing
from wirelab.report.drawing import drawing
from wirelab.serve.bench import scenario_called, scenarios
from wirelab.serve.knobs import elements
from wirelab.serve.queue import RunQueue, Status
from wirelab.serve.runs import State
from wirelab.serve.server import Address
from wirelab.serve.words import ENGLISH, Catalogue

HOME = Path(serve.__file__).parent
USED = re.compile(r"""(?:\bt|words|Refusal\(\d+,|InputError)\(?\s*\(?["']([a-z]+\.[a-z.-]+)["']""")


def test_every_answer_forbids_what_is_not_ours(served: Served) -> None:
    """Pages, refusals and files: nothing inline, nothing from elsewhere, no frame, no guessing of types."""
    visitor = served.visitor()
    for path in ("/", "/bench", "/nowhere", "/teacher", "/static/serve.css"):
        headers = visitor.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert "server" not in headers
    cookie = served.visitor().get("/").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "secure" not in cookie
    behind = served.visitor().get("/", **{"X-Forwarded-Proto": "https"}).headers["set-cookie"]
    assert behind.endswith("; secure")
    assert "samesite=lax" in cookie


def test_no_page_has_anything_inline() -> None:
    """No style, no script and no handler stands in a template; and none names another server."""
    for path in sorted((HOME / "pages").glob("*.j2")):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\son[a-z]+=|\sstyle=|<style|<script(?! src=)|https?://", text), path.name


@pytest.mark.parametrize("keeps_path", [True, False], ids=["whole path", "path taken away"])
def test_it_works_below_a_path_of_a_proxy(keeps_path: bool, tmp_path: Path) -> None:  # noqa: FBT001 - a parameter
    """Whether the proxy takes the path away or not: every link and form leads back below it."""
    testbed = PretendTestbed()
    room = made_room(tmp_path / "class", testbed, root="/lab")
    with serving(room, testbed, "/lab" if keeps_path else "") as served:
        text = served.visitor().get("/bench/sfp-mismatch").text
        links = re.findall(r"""(?:href|src|action|data-[a-z]+)="(/[^"]*)""", text)
        assert len(links) > 6
        assert all(link.startswith("/lab/") for link in links), links
        visitor = served.visitor()
        assert visitor.get("/static/serve.css").status == 200
        assert "Path=/lab" in str(visitor.get("/").headers).replace("path", "Path")


def test_a_path_that_is_none_is_refused() -> None:
    """As are half of a certificate and a file that is not there."""
    for root in ("lab", "/lab/", "//lab"):
        with pytest.raises(InputError, match="expected a path such as /lab"):
            Address("127.0.0.1", 1, root)
    with pytest.raises(InputError, match="belong together"):
        Address("127.0.0.1", 1, "", Path("cert.pem"))
    with pytest.raises(InputError, match="no such file"):
        Address("127.0.0.1", 1, "", Path("/nowhere/cert.pem"), Path("/nowhere/key.pem"))


def test_without_what_it_needs_it_says_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """`wirelab[serve]` is an extra: who only runs scenarios need not have it."""
    monkeypatch.setattr(serve_command, "_NEEDED", ("starlette", "no_such_module"))
    with pytest.raises(LabError, match="needs no_such_module") as told:
        serve_command._require_extra()  # noqa: SLF001 - what the command does first
    assert "wirelab[serve]" in (told.value.hint or "")


def test_the_extra_and_the_tests_have_the_same_packages() -> None:
    """What is tested is what is installed."""
    said = tomllib.loads((HOME.parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert said["project"]["optional-dependencies"]["serve"] == said["dependency-groups"]["serve"]


def test_every_text_that_is_used_is_in_the_catalogue() -> None:
    """And no text is there that nobody uses."""
    english = Catalogue.of().languages[ENGLISH].texts
    sources = [*HOME.glob("*.py"), *(HOME / "pages").glob("*.j2")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    used = set(re.findall(r"""["']([a-z]+\.[a-z][a-z.-]*)["']""", text))
    missing = {name for name in USED.findall(text) if name not in english and not name.endswith(".")}
    assert missing == set()
    used |= {f"run.{state}" for state in State}
    used |= {f"{place}.{doing}" for doing in get_args(Doing) for place in ("class", "exercise.do")}
    used |= {f"class.{state}" for state in (State.WAITING, State.RUNNING)}
    used |= {f"exercise.lacks.{doing}" for doing in ("run", "answer", "repair")}
    unused = {name for name in english if name not in used and not name.startswith(("bench.kind.", "knob."))}
    assert unused == set()


def test_every_knob_and_kind_has_a_word() -> None:
    """Of all scenarios; and the drawing of each can be made."""
    english = Catalogue.of().languages[ENGLISH]
    for name in scenarios():
        for case in scenario_called(name).cases:
            assert drawing(case.wiring, "network").startswith("<svg")
            for element in elements(case.wiring):
                assert f"bench.kind.{element.kind}" in english
                for knob in element.knobs:
                    assert f"knob.{knob.name}" in english
                    assert knob.positions.count("") == 1, knob


def test_a_language_is_a_file_and_lacks_nothing(tmp_path: Path) -> None:
    """Japanese and German beside the class: what they do not say is English; the browser chooses."""
    (tmp_path / "class" / "texts").mkdir(parents=True)
    (tmp_path / "class" / "texts" / "ja.toml").write_text(
        '[front]\ntitle = "クラスに参加する"\n', encoding="utf-8"
    )
    (tmp_path / "class" / "texts" / "de.toml").write_text(
        '[front]\ntitle = "Größe, Übung & Straße"\n', encoding="utf-8"
    )
    testbed = PretendTestbed()
    with serving(made_room(tmp_path / "class", testbed), testbed) as served:
        visitor = served.visitor()
        japanese = visitor.get("/", **{"Accept-Language": "xx, ja-JP;q=0.9, en;q=0.8"}).text
        assert "<h1>クラスに参加する</h1>" in japanese
        assert '<html lang="ja">' in japanese
        assert "Your name" in japanese
        assert "Größe, Übung &amp; Straße" in visitor.get("/", **{"Accept-Language": "de"}).text
        assert "Join your class" in visitor.get("/", **{"Accept-Language": "tlh, \x7f;;q=z"}).text


def test_a_language_that_cannot_be_read_names_its_file(tmp_path: Path) -> None:
    """And what is wrong there."""
    (tmp_path / "de.toml").write_text("[front]\ntitle = 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"de\.toml: front\.title: expected a text"):
        Catalogue.of(tmp_path)


def test_the_bench_is_shared_by_its_address(served: Served) -> None:
    """What is turned is in it; the run can be seen by who has not joined, and not be asked for."""
    ada = served.student()
    asked = ada.post("/bench/sfp-mismatch", variant="main", **{"with.module.fifo": "20 KiB"})
    served.wait_for_runs()
    stranger = served.visitor()
    page = stranger.get(asked.url.removeprefix(served.url)).text
    assert "module.fifo <b>20 KiB</b>" in page
    assert "What bounds them" in page
    link = re.search(r'href="(/bench/sfp-mismatch\?[^"]*)">Change', page)
    assert link
    turned = stranger.get(link[1].replace("&amp;", "&")).text
    assert '<option value="20 KiB" selected>' in turned
    assert stranger.get(asked.url.removeprefix(served.url) + "/report").status == 200
    refused = stranger.post("/bench/sfp-mismatch", variant="main")
    assert (refused.status, "Join a class first" in refused.text) == (403, True)


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("module.fifo", "16 parsec", "unknown unit <code>parsec</code>"),
        ("module.fifo", "1" * 300, "That is too long"),
        ("module.fif", "16 KiB", "did you mean <code>fifo</code>?"),
        ("../../etc", "x", "unknown node"),
        ("switch.queue", "<img src=x>", "unknown queue"),
        ("patch.speed", "10 Gbit/s", "module"),
    ],
)
def test_what_cannot_be_turned_so_is_said_beside_the_knobs(
    key: str, text: str, words: str, served: Served
) -> None:
    """In a form and in a link; nothing is run, and markup is text."""
    answer = served.student().post("/bench/sfp-mismatch", variant="main", **{f"with.{key}": text})
    assert answer.status == 422
    assert words in answer.text
    assert "<img src=x>" not in answer.text
    assert served.testbed.plans == []


def test_a_link_with_what_is_not_there_still_shows_the_scenario(served: Served) -> None:
    """With what is wrong beside it."""
    page = served.visitor().get("/bench/sfp-mismatch?variant=nobody&with.module.fifo=9").text
    assert "unknown variant" in page
    assert "What you can change" in page


def test_progress_is_told_until_it_is_done(served: Served) -> None:
    """As server-sent events: its place, how far it is, the end."""
    served.testbed.go.clear()
    ada = served.student()
    first = [ada.post("/bench/sfp-mismatch", **{"with.module.fifo": f"{size} KiB"}) for size in (16, 20, 24)]
    last = first[-1].url.removeprefix(served.url)
    assert re.search(r"This one is next|more to run before this one", ada.get(last).text)
    served.testbed.go.set()
    stream = last.replace("/runs/", "/runs/events?run=")
    assert '"state": "done"' in ada.get(stream).text
    assert "text/event-stream" in ada.get(stream).headers["content-type"]


def test_one_stream_tells_of_several_runs(served: Served) -> None:
    """Each until it is done; one that is not to be seen, or is none, and nothing is told."""
    ada, eve = ready(served), served.student("Eve")
    runs = [
        ada.post("/bench/sfp-mismatch", **{"with.module.fifo": f"{size} KiB"}).url.rpartition("/")[2]
        for size in (16, 20)
    ]
    stream = "/runs/events?" + "&".join(f"run={run}" for run in runs)
    told = [json.loads(line) for line in re.findall(r"data: (.*)", eve.get(stream).text)]
    assert {one["run"] for one in told if one["state"] == "done"} == set(runs)
    [course] = served.room.courses.all()
    [mine, *_] = served.room.works.attempts(served.room.students.of_course(course.id)[0].id, "shallow-buffer")
    for refused in (f"{stream}&run={mine.run}", f"{stream}&run=none", "/runs/events"):
        assert eve.get(refused).status == 403


def test_a_run_that_ends_while_its_page_is_made_is_shown(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page without a result would not look for one again."""
    served.testbed.go.clear()
    ada = served.student()
    path = ada.post("/bench/sfp-mismatch").url.removeprefix(served.url)
    status_before = RunQueue.status

    def status_when_it_has_ended(queue: RunQueue, run_id: str) -> Status | None:
        monkeypatch.undo()
        served.testbed.go.set()
        served.wait_for_runs()
        return status_before(queue, run_id)

    monkeypatch.setattr(RunQueue, "status", status_when_it_has_ended)
    page = ada.get(path).text
    assert 'data-events="' not in page
    assert "What bounds them" in page


def test_a_run_that_broke_can_be_asked_for_again(served: Served) -> None:
    """It says what broke, and that it says nothing about the network."""
    served.testbed.breaks = True
    ada = served.student()
    asked = ada.post("/bench/sfp-mismatch")
    served.wait_for_runs()
    path = asked.url.removeprefix(served.url)
    assert "the lab broke in a test" in ada.get(path).text
    served.testbed.breaks = False
    ada.post(f"{path}/again")
    served.wait_for_runs()
    assert "Measurements" in ada.get(path).text


def test_raw_files_are_not_there_and_the_page_says_how_to_have_them(served: Served) -> None:
    """The Plan and the figures are."""
    ada = served.student()
    path = ada.post("/bench/sfp-mismatch").url.removeprefix(served.url)
    served.wait_for_runs()
    assert "wirelab run sfp-mismatch" in ada.get(f"{path}/main/raw/").text
    assert '"scenario"' in ada.get(f"{path}/result.json").text
    assert '"cables"' in ada.get(f"{path}/main/plan.json").text
    assert ada.get(f"{path}/nobody/plan.json").status == 404
