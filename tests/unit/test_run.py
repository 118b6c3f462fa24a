"""A scenario's trials, side by side, on a testbed that plays recordings back."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from examples import shipped
from recorded import Recording, plan, recording

from wirelab.errors import LabError
from wirelab.lab.machine import Progress
from wirelab.model.expect import Expectation
from wirelab.plan.types import Plan
from wirelab.runner.job import FinishedJob, Job
from wirelab.runner.matrix import Matrix
from wirelab.runner.store import Store
from wirelab.runner.trial import Runner, Trial
from wirelab.verdict.verdict import Verdict

if TYPE_CHECKING:
    from wirelab.runner.run_result import RunResult, VariantResult

LOSSY = Expectation("download", "retransmits", 100, 200)
WHEN = datetime(2026, 7, 22, 10, 15, 30, tzinfo=UTC)

Played = Recording | BaseException | Callable[[], None]


@dataclass
class Playback:
    """A testbed on which every variant has been run before: it leaves the recording, or fails as told."""

    recordings: dict[str, Played]
    cpus: dict[str, int] = field(default_factory=dict)
    stopped: threading.Event = field(default_factory=threading.Event)

    def run(
        self, plan: Plan, folder: Path, *, cpu: int, on_progress: Callable[[Progress], None], **_: object
    ) -> None:
        """Leave the recording of that variant."""
        self.cpus[plan.variant] = cpu
        played = self.recordings[plan.variant]
        on_progress(Progress(done_s=1.0, whole_s=6.0, wall_s=0.5))
        if isinstance(played, BaseException):
            raise played
        if isinstance(played, Recording):
            played.write(folder / "raw")
        else:
            played()

    def stop(self) -> None:
        """End what waits for it."""
        self.stopped.set()


@dataclass
class Listener:
    """Keeps what it is told."""

    told: list[str] = field(default_factory=list)

    def begun(self, trial: Trial) -> None:
        """Keep that a variant begins."""
        self.told.append(f"{trial.plan.variant} begins")

    def progress(self, trial: Trial, progress: Progress) -> None:
        """Keep how far a variant is."""
        self.told.append(f"{trial.plan.variant} {progress.done_s:g} of {progress.whole_s:g}")

    def done(self, trial: Trial, variant: VariantResult) -> None:
        """Keep a verdict."""
        assert trial.plan.variant == variant.name
        self.told.append(f"{variant.name} {variant.verdict}")

    def finished(self) -> None:
        """Keep that a scenario is finished."""
        self.told.append("finished")


def trial(name: str = "main", breaks: str | None = None, expectation: Expectation = LOSSY) -> Trial:
    """A trial of the recorded network."""
    return Trial(plan(name), (expectation,), breaks)


def carried_out(
    trials: list[Trial], testbed: Playback, results: Path, cpus: tuple[int, ...] = (0, 1)
) -> tuple[RunResult, Path]:
    """Run the trials and keep them."""
    (finished,) = run_matrix([Job("sfp-mismatch", 1, tuple(trials))], testbed, results, cpus)
    assert finished.folder is not None
    return finished.run, finished.folder


def run_matrix(
    jobs: list[Job],
    testbed: Playback,
    results: Path,
    cpus: tuple[int, ...] = (0, 1),
    listener: Listener | None = None,
) -> list[FinishedJob]:
    """Run jobs side by side."""
    ticks = itertools.count(100.0, 2.5)
    matrix = Matrix(
        Runner(testbed),
        Store(results),
        cpus,
        listener or Listener(),
        clock=lambda: next(ticks),
        now=lambda: WHEN,
    )
    return matrix.run(jobs)


def test_a_variant_and_its_control(tmp_path: Path) -> None:
    """The variant holds, the control breaks what it must: pass, both with plan and raw files."""
    testbed = Playback({"main": recording(), "aquantia": recording(dropped=0)})
    run, folder = carried_out([trial(), trial("aquantia", LOSSY.name)], testbed, tmp_path)
    assert run.verdict is Verdict.PASS
    assert [(variant.name, variant.verdict) for variant in run.variants] == [
        ("main", Verdict.PASS),
        ("aquantia", Verdict.PASS),
    ]
    for name in ("main", "aquantia"):
        assert Plan.from_json((folder / name / "plan.json").read_text(encoding="utf-8")) == plan(name)
        assert (folder / name / "raw" / "console.log").is_file()


def test_a_control_that_breaks_nothing_fails_the_scenario(tmp_path: Path) -> None:
    """Its expectation holds with the control's settings as well, so it proves nothing."""
    testbed = Playback({"main": recording(), "same": recording()})
    run, _ = carried_out([trial(), trial("same", LOSSY.name)], testbed, tmp_path)
    assert run.verdict is Verdict.FAIL
    (check,) = run.variants[1].checks
    assert check.explanation == "control breaks nothing: download.retransmits still holds, measured 161"


def test_the_keys_of_result_json(tmp_path: Path) -> None:
    """Other programs rely on these names."""
    run, folder = carried_out([trial()], Playback({"main": recording()}), tmp_path)
    text = (folder / "result.json").read_text(encoding="utf-8")
    document = json.loads(text)
    assert text == run.to_json()
    assert {key: document[key] for key in document if key != "variants"} == {
        "schema": 1,
        "scenario": "sfp-mismatch",
        "verdict": "pass",
        "seed": 1,
        "kernel": "7.2.12",
        "wall_s": 2.5,
        "virtual_s": 7.2,
        "digest": run.digest,
        "measured": [],
        "fitted": [],
        "story": "",
        "source": "",
        "rerun_argv": [],
    }
    (variant,) = document["variants"]
    judged = {"name", "breaks", "verdict", "digest", "virtual_s", "cached", "checks"}
    assert set(variant) == {
        *judged,
        "flows",
        "pings",
        "ports",
        "blocked",
        "drawing",
        "events",
        "kernel",
        "tools",
    }
    download = variant["flows"][1]
    assert download | {"intervals": []} == {
        "name": "download",
        "from": "server",
        "to": "client",
        "goodput_bps": round((200_000 - 159) * 1448 * 8 / 2.002481),
        "retransmits": 161,
        "lost_datagrams": None,
        "sent_datagrams": None,
        "duration_s": None,
        "connected": True,
        "rtt_us": {"min": 101, "mean": 102, "max": 104, "p50": 312, "p90": 312, "p99": 312},
        "intervals": [],
        "protocol": "tcp",
        "path_bps": 2_353_706_112,
        "share_ppm": pytest.approx(499_801, abs=1),
        "reached_bytes": None,
        "lost_connection": "",
        "longest_gap_ns": 0,
        "recovery_ns": None,
    }
    assert download["intervals"] == [50_278_652, 50_331_348]
    line = variant["ports"]["module.line"]
    assert set(line) == {
        "tx_frames",
        "rx_frames",
        "tx_bytes",
        "rx_bytes",
        "drops",
        "tx_pause_frames",
        "rx_pause_frames",
        "paused_ns",
        "queue_high_water_bytes",
        "buffer_high_water_bytes",
        "link",
        "speed_bps",
        "duplex",
        "collisions",
        "late_collisions",
        "cpu_busy_ns",
        "tx_pfc_frames",
        "rx_pfc_frames",
        "priority_paused_ns",
        "ecn_marks",
    }
    assert line["drops"] == {
        "queue": 159,
        "rx_buffer": 0,
        "rx_oversize": 0,
        "rx_down": 0,
        "rx_error": 0,
        "tx_down": 0,
        "tx_error": 0,
    }
    assert variant["checks"] == [
        {
            "name": "download.retransmits",
            "expected": "100..200",
            "measured": "161",
            "verdict": "pass",
            "why": None,
            "explanation": "159 frames were dropped at module.line (FIFO 16 KiB full)",
            "value": 161,
            "subject": "download",
            "metric": "retransmits",
        }
    ]


def test_a_broken_lab_is_an_error_and_the_others_go_on(tmp_path: Path) -> None:
    """The message is kept with the result, and so is what the other variant measured."""
    testbed = Playback({"main": LabError("no carrier", hint="speeds differ"), "other": recording()})
    run, folder = carried_out([trial(), trial("other")], testbed, tmp_path)
    assert run.verdict is Verdict.ERROR
    assert [variant.verdict for variant in run.variants] == [Verdict.ERROR, Verdict.PASS]
    assert run.digest is None
    assert run.kernel == "7.2.12"
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    broken = document["variants"][0]
    assert (broken["flows"], broken["ports"]) == ([], {})
    assert broken["checks"][0]["explanation"] == "no carrier"


def test_a_message_names_paths_as_the_result_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder of a run under way gets another name: absolute or not, it is left out."""
    monkeypatch.chdir(tmp_path)

    def breaks() -> None:
        (draft,) = Path("results").glob(".partial-*")
        raise LabError(f"{draft.absolute()}/main/raw/x is bad", hint=f"see {draft}/main/raw/y")

    run, _ = carried_out([trial()], Playback({"main": breaks}), Path("results"))
    assert run.variants[0].checks[0].explanation == "main/raw/x is bad"
    assert run.variants[0].checks[0].why == "see main/raw/y"


def test_files_that_are_not_whole_are_an_error_with_the_file(tmp_path: Path) -> None:
    """The lab said `done`, but a file is cut short."""
    recorded = recording()
    recorded.counters["snapshots"].pop()
    run, _ = carried_out([trial()], Playback({"main": recorded}), tmp_path)
    (check,) = run.variants[0].checks
    assert (check.verdict, check.explanation) == (
        Verdict.ERROR,
        "counters.json: snapshots: the snapshot end is missing",
    )


def test_a_path_in_a_message_is_the_one_that_will_be(tmp_path: Path) -> None:
    """The folder of a run under way gets another name: messages name what is below it."""

    class Broken(Playback):
        def run(self, plan: Plan, folder: Path, **options: Any) -> None:  # noqa: ANN401 - a testbed's
            super().run(plan, folder, **options)
            raise LabError(f"see {folder}/raw/console.log", hint=f"or {folder}/plan.json")

    run, _ = carried_out([trial()], Broken({"main": recording()}), tmp_path)
    (check,) = run.variants[0].checks
    assert (check.explanation, check.why) == ("see main/raw/console.log", "or main/plan.json")


def test_a_broken_law_in_a_control_is_no_broken_expectation(tmp_path: Path) -> None:
    """A control whose lab is not sound proves nothing: the scenario is an error."""
    recorded = recording(dropped=0)
    recorded.stats("end", "client-eth0")["rx_frames"] -= 1
    testbed = Playback({"main": recording(), "control": recorded})
    run, _ = carried_out([trial(), trial("control", LOSSY.name)], testbed, tmp_path)
    assert run.verdict is Verdict.ERROR
    assert [check.name for check in run.variants[1].checks] == ["law.receive", "breaks download.retransmits"]


def test_every_trial_has_a_cpu_for_itself(tmp_path: Path) -> None:
    """Two trials that wait for each other need two CPUs, and get different ones."""
    barrier = threading.Barrier(2, timeout=30)

    def meet() -> None:
        barrier.wait()

    testbed = Playback({"a": meet, "b": meet})
    carried_out([trial("a"), trial("b")], testbed, tmp_path, cpus=(3, 5))
    assert sorted(testbed.cpus.values()) == [3, 5]


def test_one_cpu_is_never_shared(tmp_path: Path) -> None:
    """With one CPU the trials run one after the other."""
    running: list[str] = []

    def alone() -> None:
        running.append("x")
        assert len(running) == 1
        running.pop()

    testbed = Playback(dict.fromkeys("abcd", alone))
    run, _ = carried_out([trial(name) for name in "abcd"], testbed, tmp_path, cpus=(7,))
    assert set(testbed.cpus.values()) == {7}
    assert [variant.name for variant in run.variants] == list("abcd")


def test_an_interrupt_ends_everything(tmp_path: Path) -> None:
    """Ctrl-C stops the labs that run, starts no more, and leaves nothing behind."""
    testbed = Playback({})

    def hang() -> None:
        assert testbed.stopped.wait(30)

    def interrupt() -> None:
        raise KeyboardInterrupt

    testbed.recordings = {"a": hang, "b": interrupt, "c": hang}
    with pytest.raises(KeyboardInterrupt):
        carried_out([trial("a"), trial("b"), trial("c")], testbed, tmp_path)
    assert "c" not in testbed.cpus or testbed.stopped.is_set()
    assert list(tmp_path.iterdir()) == []


def test_progress_is_told(tmp_path: Path) -> None:
    """Whoever watches hears how far each lab is, and its verdict."""
    listener = Listener()
    testbed = Playback({"main": recording()})
    run_matrix([Job("sfp-mismatch", 1, (trial(),))], testbed, tmp_path, listener=listener)
    assert listener.told == ["main begins", "main 1 of 6", "main pass", "finished"]


def test_the_digest_of_a_run_is_that_of_all_its_variants(tmp_path: Path) -> None:
    """Same measurements, same digest; another measurement in a control is another digest."""

    def digest(name: str, control: Recording, seed: int = 1) -> str | None:
        trials = [trial(), trial("control", LOSSY.name)]
        trials = [replace(original, plan=replace(original.plan, seed=seed)) for original in trials]
        testbed = Playback({"main": recording(), "control": control})
        return carried_out(trials, testbed, tmp_path / name)[0].digest

    same = digest("a", recording(dropped=0))
    assert same is not None
    assert digest("b", recording(dropped=0), seed=2) == same
    assert digest("c", recording(dropped=1)) != same


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("clean-10g", "clean-10g"),
        ("scenarios/clean-10g.yaml", "clean-10g"),
        ("/somewhere/scenarios/clean-10g.yaml", "clean-10g"),
        ("mine/clean-10g.yaml", "clean-10g.yaml"),
    ],
)
def test_a_run_is_repeated_by_a_name_that_others_know(asked: str, told: str) -> None:
    """Where a file is on this machine means nothing to them; one of a catalogue has a name there."""
    assert Job.of(asked, shipped("clean-10g"), 7).rerun_argv == ("wirelab", "run", told, "--seed", "7")
