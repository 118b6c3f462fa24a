"""Marks for other programs: CSV, as Moodle and Canvas take it, JUnit, and a page for each student."""

import csv
import hashlib
import io
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Final
from xml.etree import ElementTree as ET

from wirelab.exercise.grading import Graded
from wirelab.exercise.marks import Mark, Marks
from wirelab.exercise.roster import FORMULA, Roster
from wirelab.report.html import filled_in
from wirelab.results.values import printable

_SLUG: Final = re.compile(r"[^a-z0-9]+")
_DIGITS: Final = 6
_LONGEST: Final = 40


def csv_of(done: Sequence[Graded]) -> str:
    """Every mark, a row for each student: for a spreadsheet."""
    parts = list(dict.fromkeys(mark.name for one in done for mark in one.marks.marks))
    head = ["exercise", "course", "student", "points", "most", "open", *parts, "notes", "file"]
    rows = []
    for one in done:
        marks = one.marks
        points = {mark.name: _points(mark) for mark in marks.marks}
        totals = [f"{marks.points:g}", str(marks.most), str(marks.open)]
        cells = [points.get(part, "") for part in parts]
        notes = "; ".join(marks.notes)
        rows.append(
            [marks.exercise, marks.course, marks.student, *totals, *cells, notes, one.submission.where]
        )
    return _csv(head, rows)


def moodle_csv(done: Sequence[Graded], roster: Roster | None = None) -> str:
    """For Moodle: the grading worksheet of an assignment, or the gradebook's import of a CSV file.

    A worksheet goes by its ``Identifier``, which a roster has, and the names of the works that Moodle packs.
    It is taken only with the column of its last change. The gradebook goes by username, ID number or address.
    """
    head = ["Identifier", "Full name", "Student", "Username", "ID number", "Email address"]
    head += ["Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments"]
    rows = []
    for one, entry in _placed(done, roster):
        participant = one.submission.participant
        known = f"Participant {participant}" if participant else entry.get("participant", "")
        name = entry.get("name") or one.submission.owner or one.marks.student
        identifiers = [entry.get(column, "") for column in ("username", "number", "email")]
        points = [f"{one.marks.points:g}", str(one.marks.most), entry.get("modified") or "-"]
        rows.append([known, name, one.marks.student, *identifiers, *points, _feedback(one.marks)])
    return _csv(head, rows)


def canvas_csv(done: Sequence[Graded], title: str, roster: Roster | None = None) -> str:
    """For Canvas: its gradebook's file with one assignment, whose points possible stand in the second row.

    Canvas looks for ``ID``, then ``SIS User ID``, ``SIS Login ID`` and last the name. Without a roster the
    student's name is taken as name and as login.
    """
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    most = next((one.marks.most for one in done), 0)
    rows = [["    Points Possible", "", "", "", "", str(most)]]
    for one, entry in _placed(done, roster):
        name = one.marks.student
        who = [entry.get("name") or name, entry.get("id", ""), entry.get("sis", "")]
        login = entry.get("login", "") if roster else name
        section = entry.get("section") or one.marks.course
        rows.append([*who, login, section, f"{one.marks.points:g}"])
    return _csv(head, rows)


def unplaced(done: Iterable[Graded], roster: Roster) -> list[str]:
    """Whose marks go nowhere: nobody of that name is in the roster, or several, or two say that they are."""
    placed = {id(one) for one, _ in _placed(done, roster)}
    return [one.marks.student for one in certain(done) if id(one) not in placed]


def certain(done: Iterable[Graded]) -> list[Graded]:
    """Those of whom it is clear whose they are, and of whom everything could be marked."""
    return [one for one in done if not one.contested and not one.marks.broken]


def _placed(done: Iterable[Graded], roster: Roster | None) -> list[tuple[Graded, Mapping[str, str]]]:
    """Each with its entry of the roster; who has none of their own is left out."""
    if roster is None:
        return [(one, {}) for one in certain(done)]
    find = roster.finder()
    found = []
    for one in certain(done):
        work = one.submission
        # Whose folder it is Moodle says, what they call themselves is theirs.
        names = (f"Participant {work.participant}" if work.participant else "", work.owner, one.marks.student)
        entries = [entry for name in names if name and (entry := find(name)) is not None]
        found += [(one, entries[0])] if entries else []
    claims = Counter(id(entry) for _, entry in found)
    return [(one, entry) for one, entry in found if claims[id(entry)] == 1]


def junit_of(done: Sequence[Graded]) -> str:
    """JUnit XML, as GitHub Classroom and CI servers read it: a suite for each student, a case a part."""
    root = ET.Element("testsuites")
    for one in done:
        marks = one.marks
        cases = [_case(marks, mark) for mark in marks.marks]
        count = {
            tag: sum(case.find(tag) is not None for case in cases) for tag in ("failure", "error", "skipped")
        }
        suite = ET.SubElement(
            root,
            "testsuite",
            name=f"{marks.exercise}: {marks.student}",
            tests=str(len(cases)),
            failures=str(count["failure"]),
            errors=str(count["error"]),
            skipped=str(count["skipped"]),
        )
        properties = ET.SubElement(suite, "properties")
        facts = {"points": f"{marks.points:g}", "most": marks.most, "open": marks.open, **marks.figures}
        for name, value in facts.items():
            ET.SubElement(properties, "property", name=name, value=str(value))
        suite.extend(cases)
        if marks.notes:
            ET.SubElement(suite, "system-out").text = "\n".join(marks.notes)
    ET.indent(root)
    return printable(ET.tostring(root, encoding="unicode", xml_declaration=True)) + "\n"


def page_of(one: Graded, title: str) -> str:
    """A student's marks as an HTML page that needs nothing else; what students wrote is text."""
    return filled_in("marks.html.j2", title=title, marks=one.marks, points=_points, contested=one.contested)


def file_name(marks: Marks, ending: str = ".html") -> str:
    """A name for a student's file: letters of the name, and a hash that tells equal ones apart."""
    plain = unicodedata.normalize("NFKD", marks.student).encode("ascii", "ignore").decode().lower()
    digest = hashlib.sha256(f"{marks.course}\n{marks.student}".encode()).hexdigest()[:_DIGITS]
    slug = _SLUG.sub("-", plain).strip("-")[:_LONGEST]
    return "-".join(filter(None, (marks.exercise, slug, digest))) + ending


def _case(marks: Marks, mark: Mark) -> ET.Element:
    case = ET.Element("testcase", classname=f"{marks.exercise}.{mark.part}", name=mark.name, time="0")
    words = f"{_points(mark)} of {mark.most} points: {mark.reason}"
    if mark.broken:
        ET.SubElement(case, "error", message=mark.reason)
    elif mark.points is None:
        ET.SubElement(case, "skipped", message=mark.reason)
    elif mark.points < mark.most:
        shown = mark.shown if mark.is_computed else f"measured {mark.measured}"
        ET.SubElement(case, "failure", message=words).text = f"said {mark.said}, {shown}"
    return case


def _points(mark: Mark) -> str:
    return "" if mark.points is None else f"{mark.points:g}"


def _feedback(marks: Marks) -> str:
    """Each mark with its reason, as HTML: Moodle takes it for that, and cells of one line."""
    lines = [f"{mark.name}: {_points(mark) or '-'} of {mark.most}: {mark.reason}" for mark in marks.marks]
    return "<br>".join(escape(" ".join(line.split()), quote=False) for line in lines)


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(_cell, head))
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    plain = printable(text)
    return f"'{plain}" if plain.startswith(FORMULA) and plain != "-" else plain
