"""`wirelab exercise` from start to submit and its grading, with a stand-in for the lab."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from browser import look, opened
from classroom import ANSWERS, COURSE, NOW, PREDICTIONS, diligent, predicted, sample
from standin import COMMAND_LINE, Wirelab

from wirelab.exercise import steps
from wirelab.exercise.work import Answered, Work, read_work

if TYPE_CHECKING:
    from pathlib import Path

START = ("exercise", "start", "shallow-buffer", "--student", "grace", "--course", COURSE)
PREDICT = (
    *("exercise", "predict", *(f"{name}={value}" for name, value in PREDICTIONS.items())),
    *(f"--why={name}=because" for name in PREDICTIONS),
)
ANSWER = ("exercise", "answer", *(f"{name}={value}" for name, value in ANSWERS.items()))


@pytest.fixture
def wirelab(tmp_path: Path) -> Wirelab:
    """The command line in a folder of its own; a network that can say stop drops nothing."""
    made = Wirelab.make(tmp_path)
    made.lab.order({"repair-1": {"dropped": 0}, "helps-option-2": {"dropped": 0}})
    return made


def work_of(wirelab: Wirelab) -> Work:
    """What is kept."""
    return read_work(wirelab.folder / "shallow-buffer" / "work.json")


def test_an_exercise_from_start_to_submit(wirelab: Wirelab) -> None:
    """Each command leads to the next, keeps the work and shows what is asked for."""
    code, out, _ = wirelab(*START)
    assert (code, "Your figures: fifo 28 KiB, line 2.5 Gbit/s" in out) == (0, True)
    assert "Next: predict 4 figures before anything runs    wirelab exercise predict" in out
    assert wirelab(*PREDICT)[0] == 0
    code, out, err = wirelab("exercise", "run", "--no-cache", *wirelab.lab.options)
    assert (code, err) == (0, "")
    line = next(line.split("  ") for line in out.splitlines() if line.startswith("retransmits"))
    assert "2500" in "".join(line)
    assert "161" in "".join(line)
    assert wirelab(*ANSWER)[0] == 0
    code, out, _ = wirelab(
        *("exercise", "repair", "module=aqr113c", "module.fifo=64 KiB", "--no-cache", *wirelab.lab.options)
    )
    assert "it holds, and its control fails as it must: this is what you hand in" in out
    code, out, _ = wirelab("exercise", "look")
    assert out.startswith("file://")
    code, _, err = wirelab("exercise", "look", "--port", "module.line")
    assert (code, "a run, --port and --record are of a capture" in err) == (2, True)
    code, out, _ = wirelab("exercise", "status")
    assert "Next: hand it in" in out
    code, out, _ = wirelab("exercise", "submit")
    assert code == 0
    [handed_in] = (wirelab.folder / "shallow-buffer").glob("shallow-buffer-grace-*.json")
    assert read_work(handed_in) == work_of(wirelab)
    assert work_of(wirelab).submitted
    code, _, err = wirelab("exercise", "answer", "where=client")
    assert (code, "does not change any more" in err) == (2, True)


def test_without_a_terminal_what_is_asked_is_listed(wirelab: Wirelab) -> None:
    """By `predict` as by `answer`; and by a run what an experiment may change."""
    assert wirelab(*START)[0] == 0
    code, out, _ = wirelab("exercise", "predict")
    assert code == 0
    assert "burst: How long is the longest burst" in out
    assert "Next: predict 4 figures before anything runs" in out
    assert wirelab(*PREDICT)[0] == 0
    _, out, _ = wirelab("exercise", "run", "--no-cache", *wirelab.lab.options)
    assert "experiments: 0 of 4 used" in out
    assert re.search(r"client\.rx_usecs +0\.\.200 us +how long", out)
    _, out, _ = wirelab("exercise", "answer")
    assert "Next: answer" in out


def test_nothing_runs_before_the_seal(wirelab: Wirelab) -> None:
    """Clear words, exit code 2, and no lab is started."""
    wirelab(*START)
    for argv in (
        ["run"],
        ["run", "module.fifo=64 KiB"],
        ["repair", "module=aqr113c"],
        ["answer", "where=client"],
    ):
        code, out, err = wirelab("exercise", *argv)
        assert (code, out) == (2, "")
        assert err == "error: nothing runs before the predictions are sealed: predict first\n"
    assert not wirelab.lab.pid_file("network").exists()


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["start", "shalow-buffer"], "unknown exercise `shalow-buffer`; did you mean `shallow-buffer`?"),
        (["start", "shallow-buffer"], "there is a work already"),
        (["run", "netwrk"], "unknown run `netwrk`; did you mean `network`?"),
        (["run", "network", "more"], "one run at a time"),
        (["run", "module.fifo=64"], "`64` has no unit"),
        (["run", "module.fifo=64 KiB", "module.fifo=8 KiB"], "module.fifo: is given twice"),
        (["answer", "where"], "`where`: expected name=value, such as where=module.line"),
        (["answer", "where=$(reboot)"], "the answer is in the run `network`"),
        (["predict", "download=1 Gbit/s"], "the predictions were sealed at"),
        (["repair", "module=aqr113c"], "these settings cannot be together"),
        (["submit"], "it is not done yet: run `network`"),
        (["status", "--folder", "nowhere"], "nowhere/work.json: cannot be read"),
        (["grade", "nowhere"], "there is no such file or folder"),
        (["grade", "lossy.yaml"], "there is no work that can be graded"),
    ],
)
def test_bad_input(wirelab: Wirelab, argv: list[str], message: str) -> None:
    """Each has its words, and the work stays as it was."""
    wirelab(*START)
    wirelab(*PREDICT)
    before = work_of(wirelab)
    names = ["--student", "grace", "--course", "c"] if argv[0] == "start" else []
    code, _, err = wirelab("exercise", *argv, *names)
    assert code == 2
    assert message in err
    assert "\x1b" not in err
    assert work_of(wirelab) == before


def test_a_broken_lab_costs_nothing(wirelab: Wirelab) -> None:
    """No run is counted, and the next one goes on."""
    wirelab(*START)
    wirelab(*PREDICT)
    wirelab.lab.order({"network": {"message": "the disk of the lab is full"}})
    code, _, err = wirelab("exercise", "run", "--no-cache", *wirelab.lab.options)
    assert (code, "the disk of the lab is full" in err) == (4, True)
    assert work_of(wirelab).runs == ()


def test_a_damaged_work_is_refused(wirelab: Wirelab) -> None:
    """With the file and the field; it is left as it is."""
    wirelab(*START)
    path = wirelab.folder / "shallow-buffer" / "work.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"grace"', '"gr\\u202eace"'), encoding="utf-8")
    before = path.read_bytes()
    code, _, err = wirelab("exercise", "status")
    assert code == 2
    assert "shallow-buffer/work.json: is no whole work: student:" in err
    assert path.read_bytes() == before


def typed(wirelab: Wirelab, *argv: str, keys: str) -> str:
    """What a command shows on a terminal on which somebody types."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(  # noqa: S603 - the program under test
        [sys.executable, "-c", COMMAND_LINE, *argv],
        cwd=wirelab.folder,
        env={**wirelab.environ, "COLUMNS": "100", "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    os.write(ours, keys.encode())
    shown = b""
    until = time.monotonic() + 100
    while time.monotonic() < until:
        if select.select([ours], [], [], 1)[0]:
            try:
                shown += os.read(ours, 65536)
            except OSError:
                break
        elif process.poll() is not None:
            break
    assert process.wait(10) == 0, shown.decode(errors="replace")
    os.close(ours)
    return shown.decode(errors="replace")


def test_somebody_at_a_terminal_is_asked(wirelab: Wirelab) -> None:
    """For each prediction and its reason, again where it is none, and whether to seal."""
    wirelab(*START)
    keys = "20\n20 kB\nburst\n2.3 Gbit/s\nline\n1.2 Gbit/s\nhalf\n2500\nguess\ny\n"
    shown = typed(wirelab, "exercise", "predict", keys=keys)
    assert "`20` has no unit" in shown
    work = work_of(wirelab)
    assert work.is_sealed
    assert {name: one.value for name, one in work.predictions.items()} == {**PREDICTIONS, "burst": "20 kB"}
    assert work.predictions["download"].why == "half"


def handed_in(folder: Path, *students: str) -> None:
    """A class of diligent students."""
    exercise = sample()
    for student in students:
        (folder / student).mkdir(parents=True)
        work = steps.submitted(exercise, diligent(exercise, student), NOW)
        (folder / student / "work.json").write_text(work.to_json(), encoding="utf-8")


def test_a_class_is_graded(wirelab: Wirelab) -> None:
    """A table, CSV, for Moodle and Canvas, too, JUnit, and a page for each; what is refused is told."""
    handed_in(wirelab.folder / "in", "grace", "alan", "=cmd|'/C calc'!A0")
    (wirelab.folder / "in" / "bad.json").write_text("{")
    with zipfile.ZipFile(wirelab.folder / "in" / "moodle.zip", "w") as archive:
        text = steps.submitted(sample(), diligent(sample(), "bob"), NOW).to_json()
        archive.writestr("Bob Kahn_77_assignsubmission_file_/shallow-buffer-bob.json", text)
    marks_of = ("--csv", "a.csv", "--moodle", "m.csv", "--canvas", "c.csv")
    outputs = (*marks_of, "--junit", "j.xml", "--html", "pages")
    code, out, err = wirelab("exercise", "grade", "in", *outputs, "--no-cache", *wirelab.lab.options)
    assert code == 2
    assert "warning: bad.json: is no whole work" in err
    assert all(f"\n{name} " in out for name in ("=cmd|'/C", "alan", "bob", "grace"))

    def rows(name: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO((wirelab.folder / name).read_text(encoding="utf-8"))))

    marks = {row["student"]: row for row in rows("a.csv")}
    assert marks["grace"]["where"] == "2"
    assert marks["grace"]["upload-why"] == ""
    assert marks["grace"]["open"] == "2"
    assert "'=cmd|'/C calc'!A0" in marks
    moodle = {row["Student"]: row for row in rows("m.csv")}
    assert moodle["bob"]["Identifier"] == "Participant 77"
    assert moodle["bob"]["Full name"] == "Bob Kahn"
    assert moodle["bob"]["Grade"] == marks["bob"]["points"]
    assert "where: 2 of 2: right" in moodle["bob"]["Feedback comments"]
    assert moodle["bob"]["Last modified (grade)"] == "-"
    canvas = rows("c.csv")
    assert canvas[0]["Student"].strip() == "Points Possible"
    assert canvas[0]["The shallow buffer"] == "25"
    assert [row["SIS Login ID"] for row in canvas[1:]] == ["'=cmd|'/C calc'!A0", "alan", "bob", "grace"]
    suites = ET.parse(wirelab.folder / "j.xml").getroot()  # noqa: S314 - our own
    assert len(suites) == 4
    assert {suite.get("tests") for suite in suites} == {"10"}
    assert {suite.get("skipped") for suite in suites} == {"1"}
    pages = sorted((wirelab.folder / "pages").glob("*.html"))
    assert len(pages) == 4
    assert not [path for path in wirelab.folder.rglob("*") if "setup-" in path.name]


def test_what_students_write_is_text(wirelab: Wirelab) -> None:
    """Markup in an answer, a name and a reason: a page shows it, and runs nothing."""
    exercise = sample()
    evil = "<script>document.title='taken'</script><img src=x onerror=alert(1)>"
    work = steps.started(exercise, COURSE, "<b>grace</b>", NOW)
    values = {name: replace(one, why=evil) for name, one in predicted().items()}
    work = steps.sealed(exercise, work, values, NOW)
    work = replace(work, answers={"upload-why": Answered(evil, "2026-11-24T09:30:00Z")})
    (wirelab.folder / "work.json").write_text(work.to_json(), encoding="utf-8")
    outputs = ("--html", "pages", "--junit", "j.xml", "--moodle", "m.csv")
    code, _, _ = wirelab("exercise", "grade", "work.json", *outputs, "--no-cache", *wirelab.lab.options)
    assert code == 0
    [path] = (wirelab.folder / "pages").glob("*.html")
    text = path.read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<img" not in text
    with opened(path, 390) as page:
        assert page.title() == "The shallow buffer: <b>grace</b>"
        look(page, "marks")


def test_another_students_name_is_contested(wirelab: Wirelab) -> None:
    """Two works in one name from two places: both are told, and neither goes to Moodle or Canvas."""
    handed_in(wirelab.folder / "in", "grace", "alan")
    stolen = (wirelab.folder / "in" / "grace" / "work.json").read_text(encoding="utf-8")
    (wirelab.folder / "in" / "alan" / "work.json").write_text(stolen, encoding="utf-8")
    code, out, _ = wirelab(
        *("exercise", "grade", "in", "--moodle", "m.csv", "--no-cache", *wirelab.lab.options)
    )
    assert code == 0
    assert out.count("there are works in this name at several places") == 2
    assert len((wirelab.folder / "m.csv").read_text().splitlines()) == 1


def test_who_is_not_of_the_class_is_refused(wirelab: Wirelab) -> None:
    """With a list of names; so is a work on another exercise."""
    handed_in(wirelab.folder / "in", "grace", "mallory")
    (wirelab.folder / "names.txt").write_text("grace\nalan\n")
    other = json.loads((wirelab.folder / "in" / "grace" / "work.json").read_text(encoding="utf-8"))
    other["exercise"] = "other"
    (wirelab.folder / "in" / "other.json").write_text(json.dumps(other))
    code, out, err = wirelab(
        *("exercise", "grade", "in", "--students", "names.txt", "--no-cache", *wirelab.lab.options)
    )
    assert code == 2
    assert "warning: mallory/work.json: `mallory` is nobody of this class" in err
    assert "warning: other.json: unknown exercise `other`" in err
    assert [line.split()[0] for line in out.splitlines()[1:]] == ["grace"]


def test_copies_are_told(wirelab: Wirelab) -> None:
    """The same words, and a measurement that with these figures nobody has."""
    exercise = sample()
    for student in ("grace", "alan"):
        work = diligent(exercise, student)
        same = Answered("from the slow line to the fast one nothing has to wait", "2026-11-24T09:30:00Z")
        work = replace(work, answers={**work.answers, "upload-why": same})
        (wirelab.folder / f"{student}.json").write_text(work.to_json(), encoding="utf-8")
    csv_file = ("--csv", "a.csv")
    wirelab("exercise", "grade", "grace.json", "alan.json", *csv_file, "--no-cache", *wirelab.lab.options)
    text = (wirelab.folder / "a.csv").read_text(encoding="utf-8")
    assert "upload-why: it has the words of alan" in text
    assert "it has the measurement of grace" in text


def test_what_lies_about_its_runs_has_the_same_marks(wirelab: Wirelab) -> None:
    """Results are measured again: whatever a work says of them, points and all, counts for nothing."""
    exercise = sample()
    honest = steps.submitted(exercise, diligent(exercise), NOW)
    document = json.loads(honest.to_json())
    document["points"] = 1000
    document["marks"] = [{"name": "where", "points": 99}]
    document["runs"][0]["figures"] = {"download.goodput": 10**12}
    (wirelab.folder / "honest.json").write_text(honest.to_json(), encoding="utf-8")
    (wirelab.folder / "liar.json").write_text(json.dumps(document), encoding="utf-8")
    points = []
    for name in ("honest", "liar"):
        wirelab("exercise", "grade", f"{name}.json", "--csv", "a.csv", *wirelab.lab.options)
        [row] = csv.DictReader(io.StringIO((wirelab.folder / "a.csv").read_text(encoding="utf-8")))
        points.append(row["points"])
    assert points[0] == points[1]


def test_a_file_that_cannot_be_written_costs_no_other(wirelab: Wirelab) -> None:
    """Each that was asked for is tried, and each that failed is named."""
    handed_in(wirelab.folder / "in", "grace")
    (wirelab.folder / "file").touch()
    outputs = ("--csv", "file/a.csv", "--canvas", "c.csv", "--junit", "file/j.xml", "--html", "pages")
    code, _, err = wirelab("exercise", "grade", "in", *outputs, *wirelab.lab.options)
    assert code == 4
    assert "warning: file/j.xml: cannot be written" in err
    assert "error: file/a.csv: cannot be written" in err
    assert (wirelab.folder / "c.csv").is_file()
    assert len(list((wirelab.folder / "pages").iterdir())) == 1


def test_preview_shows_what_a_student_reads_and_what_is_right(wirelab: Wirelab) -> None:
    """For the teacher who writes one."""
    code, out, _ = wirelab(
        *("exercise", "preview", "shallow-buffer", "--student", "grace", "--course", COURSE, "--solve"),
        *("--no-cache", *wirelab.lab.options),
    )
    assert code == 0
    assert "Twice the FIFO, 56 KiB" in out
    assert "module.line, 159" in out
    assert "FIFO: the FIFO of module.line" in out
    assert re.search(r"^helps +option ", out, re.MULTILINE)


def test_marks_go_to_whom_the_roster_says(wirelab: Wirelab) -> None:
    """Who is not in it is told, and so is an assignment that is out of other points."""
    handed_in(wirelab.folder / "in", "grace", "alan")
    (wirelab.folder / "roster.csv").write_text(
        "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\nParticipant 7,Grace,,100.00,-\n"
    )
    files = ("--roster", "roster.csv", "--moodle", "m.csv")
    code, _, err = wirelab("exercise", "grade", "in", *files, "--no-cache", *wirelab.lab.options)
    assert code == 0
    assert "warning: alan: the roster has nobody of this name, or more than one" in err
    assert "warning: Moodle's assignment is out of 100 points, the exercise of 25" in err
    rows = list(csv.DictReader(io.StringIO((wirelab.folder / "m.csv").read_text(encoding="utf-8"))))
    assert [(row["Identifier"], row["Student"]) for row in rows] == [("Participant 7", "grace")]
    (wirelab.folder / "roster.csv").write_text("grace\n")
    code, _, err = wirelab("exercise", "grade", "in", *files, *wirelab.lab.options)
    assert code == 2
    assert "roster.csv: has no column with names" in err
