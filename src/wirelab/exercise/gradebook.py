"""Marks for other programs: CSV, as Moodle and Canvas take it, JUnit, and a page for each student."""

import csv
import hashlib
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final
from xml.etree import ElementTree as ET

from wirelab.exercise.grading import Graded
from wirelab.exercise.marks import Mark, Marks
from wirelab.report.html import filled_in
from wirelab.results.values import printable

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
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


def moodle_csv(done: Sequence[Graded]) -> str:
    """For Moodle: the grading worksheet of an assignment, or the gradebook's import of a CSV file.

    A worksheet is recognized by its ``Identifier``, which is known of submissions that Moodle has packed; the
    gradebook maps a column, such as the student's name, to what it knows a user by. It has the feedback, too.
    """
    head = ["Identifier", "Full name", "Student", "Grade", "Maximum Grade", "Feedback comments"]
    rows = [
        [
            f"Participant {one.submission.participant}" if one.submission.participant else "",
            one.submission.owner or one.marks.student,
            one.marks.student,
            f"{one.marks.points:g}",
            str(one.marks.most),
            _feedback(one.marks),
        ]
        for one in certain(done)
    ]
    return _csv(head, rows)


def canvas_csv(done: Sequence[Graded], title: str) -> str:
    """For Canvas: its gradebook's file with one assignment, whose points possible stand in the second row.

    Canvas knows students by ``ID``, ``SIS User ID`` or ``SIS Login ID``: the student's name is taken as that.
    """
    head = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", title]
    most = next((one.marks.most for one in done), 0)
    rows = [["    Points Possible", "", "", "", "", str(most)]]
    rows += [
        [one.marks.student, "", "", one.marks.student, one.marks.course, f"{one.marks.points:g}"]
        for one in certain(done)
    ]
    return _csv(head, rows)


def certain(done: Iterable[Graded]) -> list[Graded]:
    """Those of whom it is clear whose they are, and of whom everything could be marked."""
    return [one for one in done if not one.contested and not one.marks.broken]


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
        ET.SubElement(case, "failure", message=words).text = f"said {mark.said}, measured {mark.measured}"
    return case


def _points(mark: Mark) -> str:
    return "" if mark.points is None else f"{mark.points:g}"


def _feedback(marks: Marks) -> str:
    lines = [f"{mark.name}: {_points(mark) or '-'} of {mark.most}: {mark.reason}" for mark in marks.marks]
    return "\n".join(lines)


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(_cell, head))
    writer.writerows([_cell(cell) for cell in row] for row in rows)
    return out.getvalue()


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    plain = printable(text)
    return f"'{plain}" if plain.startswith(_FORMULA) else plain
