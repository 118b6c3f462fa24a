"""The documentation says what is so: outputs, examples, commands, links and the reference."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

import pytest
import typer
from bursts import picture
from pydantic import TypeAdapter, ValidationError
from test_report_html import kept

from docs import catalogue, fields, reference
from docs.commands import COMMANDS, DOCS, EXAMPLES, OUTPUTS, README, ROOT, masked
from docs.markdown import anchor, table, words
from docs.offline import dead_links, loaded_from_elsewhere
from wirelab.cli.app import app
from wirelab.model import exercise
from wirelab.model import types as model_types
from wirelab.model.bus import Bus
from wirelab.model.catalogue import Catalogue
from wirelab.model.experiment import load
from wirelab.model.files import MODELS
from wirelab.model.parts import (
    Firewall,
    Host,
    Hub,
    Nic,
    PhyLatency,
    Storage,
    Switch,
    Temperature,
    Transceiver,
)
from wirelab.model.scenario import Bound, Cell, Citation, Control, Row, Scenario, Variant
from wirelab.model.topology import Cable, Node, Topology
from wirelab.model.traffic import Copy, Interval, Iperf3, Ping
from wirelab.model.validate import validate
from wirelab.model.yamlfile import read
from wirelab.report.html import html_report, pictures_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import BaseModel

    from docs.commands import Command

PAGES = sorted((DOCS / "pages").rglob("*.md"))
DOCUMENTS = [README, *PAGES, *sorted((DOCS / "introductions").glob("*.md"))]
KEPT: tuple[type[BaseModel], ...] = (
    *(Scenario, Citation, Bound, Variant, Control, Row, Cell),
    *(Topology, Node, Cable),
    *(Iperf3, Ping, Copy),
    *(exercise.ExerciseFile, exercise.Drawn, exercise.Run, exercise.Prediction, exercise.Experiments),
    *(exercise.Allowed, exercise.Question, exercise.PortQuestion, exercise.PausedQuestion),
    *(exercise.MechanismQuestion, exercise.ElementQuestion, exercise.NumberQuestion),
    *(exercise.ChoiceQuestion, exercise.Option, exercise.TextQuestion, exercise.FaultQuestion),
    *(exercise.Fault, exercise.Repair, exercise.RepairControl),
    *(Nic, Transceiver, Switch, Hub, Host, Firewall, Bus, Storage, PhyLatency, Temperature),
)
INCLUDED = re.compile(r'--8<-- "([^":]+)(?::[^"]*)?"')
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
CODE = re.compile(r"`([^`\n]+)`|^(?:    |\$ )(\S.*)$", re.MULTILINE)
TARGET = re.compile(r"^([a-z][a-z -]*):", re.MULTILINE)


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if not command.needs_lab], ids=lambda command: command.name
)
def test_an_output_is_what_the_command_prints(command: Command) -> None:
    """What a page shows is what its command prints today; `make docs` prints it anew."""
    assert masked(command.run()) == masked(command.stored())


def test_every_output_has_its_place() -> None:
    """Each command is shown somewhere, and no output lies about that nothing shows."""
    shown = {name for path in DOCUMENTS for name in INCLUDED.findall(path.read_text(encoding="utf-8"))}
    kept = {f"outputs/{path.name}" for path in OUTPUTS.iterdir()}
    made = {f"outputs/{command.path.name}" for command in COMMANDS if not command.in_readme}
    assert kept == made
    assert made <= shown


def test_what_differs_from_run_to_run_is_masked() -> None:
    """How long a run took and when it was, and nothing that was measured."""
    measured = (
        "x: pass  7.2 virtual s in 14.3 s (1.99 s each)  digest 75b9ca05822a\nresults/20261121T221004Z-x"
    )
    recalled = (
        "x: pass  7.2 virtual s, cached: measured before  digest 75b9ca05822a\nresults/20270101T000000Z-x"
    )
    assert masked(measured) == masked(recalled)
    assert masked(measured) != masked(recalled.replace("75b9", "75b8"))


@pytest.mark.parametrize(
    "path", sorted(EXAMPLES.rglob("*.yaml")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_an_example_is_what_it_seems(path: Path) -> None:
    """Every file that a reader may copy is sound, but for the mistakes that the tutorial explains."""
    document = read(path)
    assert isinstance(document.tree, dict)
    kind = "topology" if "nodes" in document.tree else "scenario" if "topology" in document.tree else "parts"
    problems = list(validate(MODELS[kind], document).problems)
    assert bool(problems) == (path.name == "typo.yaml"), problems


@pytest.mark.parametrize("name", ["reference/scenario", "firewall/block"])
def test_an_example_on_a_shipped_topology_can_be_run(name: str) -> None:
    """Its nodes, ports and parts are there."""
    assert load(str(EXAMPLES / f"{name}.yaml"), ROOT).cases


def commands_shown() -> Iterator[tuple[Path, str]]:
    """Every line of code in the documents that starts with a command of ours."""
    for path in DOCUMENTS:
        for span, line in CODE.findall(path.read_text(encoding="utf-8")):
            code = (span or line).partition(" #")[0].strip()
            if code.startswith(("wirelab ", "make ")):
                yield path, code


def test_every_command_shown_exists() -> None:
    """With its options; so does every target of `make`."""
    makefiles = [ROOT / "Makefile", *ROOT.glob("*/*.mk")]
    known = {
        name for path in makefiles for match in TARGET.findall(path.read_text()) for name in match.split()
    }
    known |= {f"ci-{step}" for step in ("check", "shards", "lab-key", "lab", "run", "summary")}
    shown = list(commands_shown())
    assert len(shown) > 40
    wrong = []
    for path, code in shown:
        program, *rest = shlex.split(code)
        if program == "make":
            targets = [word for word in rest if "=" not in word]
            wrong += [f"{path.name}: {code}" for word in targets if word not in known]
        elif not _is_command(rest):
            wrong.append(f"{path.name}: {code}")
    assert wrong == []


def _is_command(arguments: list[str]) -> bool:
    command: Any = typer.main.get_command(app)
    while hasattr(command, "commands") and arguments:
        name, *rest = arguments
        if name.startswith("-"):
            break
        if name not in command.commands:
            return False
        command, arguments = command.commands[name], rest
    known = {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return {word for word in options if re.match(r"--?[a-z]", word)} <= known


@pytest.mark.parametrize(
    ("line", "exists"),
    [
        ("run sfp-mismatch --no-cache", True),
        ("lab build --install-packages", True),
        ("exec -- ls --colour", True),
        ("rum sfp-mismatch", False),
        ("lab make", False),
        ("run sfp-mismatch --fast", False),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(line: str, *, exists: bool) -> None:
    """The test above can fail."""
    assert _is_command(line.split()) == exists


def test_the_readme_links_to_what_is_there() -> None:
    """MkDocs checks the pages; nobody else checks the README."""
    links = LINK.findall(README.read_text(encoding="utf-8"))
    assert len(links) > 15
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_reference_has_every_key_of_the_files() -> None:
    """Each with a text that says what it is."""
    keys = [(model.__name__, key, field) for model in KEPT for key, field in reference.keys_of(model)]
    assert [(model, key) for model, key, field in keys if not field.description] == []
    text = "".join(page for _, page in reference.pages())
    assert [
        (model, key) for model, key, _ in keys if not re.search(rf"^\| `{key}`", text, re.MULTILINE)
    ] == []


def test_the_reference_has_no_empty_value() -> None:
    """What can stand under a key is told of every key; the range of a `Bound` depends on the metric."""
    keys = [(model.__name__, *key) for model in KEPT for key in reference.keys_of(model)]
    empty = [(model, key) for model, key, field in keys if not fields.value_of(field).text]
    assert empty == [("Bound", "range")]


@pytest.mark.parametrize(
    ("alias", "least", "most", "below", "above"),
    [
        (model_types.Seconds, "1 s", "86400 s", "0 s", "86401 s"),
        (model_types.Ratio, "", "100 %", "", "101 %"),
        (model_types.PositiveCount, "1", "", "0", ""),
        (Interval, "1 ms", "1 s", "999 us", "1001 ms"),
    ],
)
def test_the_limits_in_the_reference_are_those_of_the_model(
    alias: Any,  # noqa: ANN401 - an Annotated type
    least: str,
    most: str,
    below: str,
    above: str,
) -> None:
    """Both ends are taken, what is beyond is refused."""
    (value,) = (value for known, value in fields.TYPES if known is alias)
    assert f"{least}..{most}" in value.text
    adapter = TypeAdapter(alias)
    for good in filter(None, (least, most)):
        adapter.validate_python(good)
    for bad in filter(None, (below, above)):
        with pytest.raises(ValidationError):
            adapter.validate_python(bad)


def test_every_scenario_named_in_a_page_exists() -> None:
    """A link to a page of the catalogue, or a run of a scenario."""
    named = {
        name
        for path in PAGES
        for name in re.findall(r"catalogue/([a-z0-9-]+)\.md", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 5
    assert named - {"index"} <= set(Catalogue.of(ROOT).names("scenarios"))


@pytest.mark.parametrize(
    ("page", "loads"),
    [
        ('<script src="https://cdn.example/a.js">', True),
        ('<img alt="" src="//cdn.example/a.png">', True),
        ('<link rel="stylesheet" href="https://fonts.example/css">', True),
        ('<link href="https://fonts.example" rel="preconnect">', True),
        ("<style>@import 'https://fonts.example/css'</style>", True),
        ("<style>a { background: url(https://cdn.example/a.png) }</style>", True),
        ('<a href="https://example.org/">', False),
        ('<script src="../assets/a.js"></script><img src="a.png">', False),
        ('<svg xmlns="http://www.w3.org/2000/svg">', False),
    ],
)
def test_a_page_that_loads_from_elsewhere_is_noticed(page: str, *, loads: bool, tmp_path: Path) -> None:
    """Links may lead away; scripts, styles, fonts and pictures are in the site."""
    (tmp_path / "index.html").write_text(page, encoding="utf-8")
    assert bool(list(loaded_from_elsewhere(tmp_path))) == loads


@pytest.mark.parametrize(
    ("link", "leads"),
    [
        ("main/plan.json", False),
        ("main/raw/", False),
        ("/assets/gone.css", False),
        ("b%20c.html#there", True),
        ("/b%20c.html", True),
        ("../index.html?seed=1", True),
        ("#here", True),
        ("https://example.org/gone.html", True),
        ("mailto:somebody@example.org", True),
    ],
)
def test_a_link_to_what_is_not_there_is_noticed(link: str, *, leads: bool, tmp_path: Path) -> None:
    """MkDocs checks its own pages only; where a link leads outside of the site nobody looks."""
    (tmp_path / "in").mkdir()
    for name in ("b c.html", "in/b c.html", "index.html"):
        (tmp_path / name).write_text("<p>", encoding="utf-8")
    (tmp_path / "in" / "a.html").write_text(f'<p id="here"><a href="{link}">there</a>', encoding="utf-8")
    assert list(dead_links(tmp_path)) == ([] if leads else [f"in/a.html: {link}"])


def test_a_report_in_the_site_leads_to_nothing_that_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The site has no other files of a run; what the run has drawn of single frames stays."""
    folder = kept(tmp_path / "results", lambda run: html_report(run, [picture()])).folder
    assert folder is not None
    monkeypatch.setattr(catalogue, "RESULTS", folder.parent)
    monkeypatch.setattr(catalogue, "names", lambda: (folder.name,))
    ((name, text),) = catalogue.reports()
    path = tmp_path / "site" / name
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    assert list(dead_links(tmp_path / "site")) == []
    assert list(pictures_in(text)) == [picture()]
    assert text.count('class="drawn"') == (folder / "report.html").read_text(encoding="utf-8").count(
        'class="drawn"'
    )


def test_a_table_is_what_a_reader_needs() -> None:
    """Empty columns go; a bar in a cell is no border; cells of a wide table carry their titles."""
    assert table(("a", "b"), [("1", ""), ("2|3", "")]) == "| a |\n| --- |\n| 1 |\n| 2\\|3 |\n"
    assert '5 { data-title="e" }' in table(tuple("abcde"), ["12345"])
    assert words("a_b <c> `d_e`") == "a\\_b &lt;c&gt; `d_e`"
    assert anchor("rate of bytes") == "rate-of-bytes"
