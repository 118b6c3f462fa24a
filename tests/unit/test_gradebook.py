"""Marks for Moodle and Canvas: what is written is imported as it stands, by the rules of their importers.

The rules are those of Moodle's grading worksheet (mod/assign/feedback/offline) and its import of grades from
CSV (grade/import/csv), and of Canvas's import of its gradebook (lib/gradebook_importer.rb), as of 2026.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from classroom import diligent, sample

from wirelab.errors import InputError
from wirelab.exercise.gradebook import canvas_csv, csv_of, moodle_csv, unplaced
from wirelab.exercise.grading import Graded
from wirelab.exercise.marks import Mark, Marks
from wirelab.exercise.roster import FORMULA, Roster, read_roster
from wirelab.exercise.submission import Submission

if TYPE_CHECKING:
    from collections.abc import Mapping

WORKSHEET = """\
\ufeffIdentifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed",\
"Last modified (submission)","Last modified (grade)","Feedback comments"
"Participant 41","Grace Hopper",grace@example.org,Submitted,,25.00,Yes,"Monday, 23 November 2026, 9:00 AM",-,
"Participant 42","Kahn, Bob",bob@example.org,Submitted,3.00,25.00,Yes,-,"Tuesday, 24 November 2026, 9:00 AM",
"""
GRADEBOOK = """\
Student,ID,SIS User ID,SIS Login ID,Section,Old task (77),Current Score
    Points Possible,,,,,10,(read only)
"Hopper, Grace",9001,S-1,ghopper,Monday group,7,70
"Kahn, Bob",9002,S-2,bkahn,Monday group,8,80
"""


def graded(student: str, points: float = 7.5, reason: str = "right", **handed_in: str) -> Graded:
    """A work with one mark."""
    work = replace(diligent(sample()), student=student)
    mark = Mark("question", "where", 25, points, reason)
    marks = Marks(student, work.course, work.exercise, {}, (mark,))
    return Graded(Submission("", work, **handed_in), marks)


def rows_of(text: str) -> list[list[str]]:
    """A CSV as its rows, each as long as the first."""
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(set(rows[0])) == len(rows[0])
    return rows


def worksheet_import(text: str, users: Mapping[str, str]) -> dict[str, tuple[str, str, str]]:
    """What Moodle's grading worksheet takes: grade, feedback and last change of users by their unique id."""
    head, *rows = rows_of(text)
    columns = {name: head.index(name) for name in ("Identifier", "Grade", "Last modified (grade)")}
    feedback = head.index("Feedback comments")
    assert feedback > 0, "Moodle passes over feedback in the first column"
    taken = {}
    for row in rows:
        unique_id = row[columns["Identifier"]][len("Participant ") :]
        if unique_id in users:
            grade, modified = row[columns["Grade"]], row[columns["Last modified (grade)"]]
            taken[users[unique_id]] = (grade, row[feedback], modified)
    return taken


def gradebook_import(text: str, column: str, users: Mapping[str, str]) -> dict[str, float]:
    """What Moodle's import from CSV takes; one unknown user and nothing is taken."""
    head, *rows = rows_of(text)
    return {users[row[head.index(column)]]: float(row[head.index("Grade")]) for row in rows}


def canvas_import(text: str, users: Mapping[str, str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The assignments that Canvas finds with their points possible, and the grades of users."""
    head, *rows = rows_of(text)
    assert "Student" in head[0]
    assert "ID" in head[1]
    assert head[2:5] == ["SIS User ID", "SIS Login ID", "Section"]
    assignments = head[5:]
    possible: dict[str, str] = {}
    grades: dict[str, dict[str, str]] = {}
    for row in rows:
        cells = dict(zip(assignments, row[5:], strict=True))
        if "Points Possible" in row[0]:
            possible = cells
        else:
            who = next((users[cell] for cell in (row[1], row[2], row[3], row[0]) if cell in users), None)
            assert who is not None, "Canvas asks who that is"
            grades[who] = cells
    return possible, grades


def test_moodle_takes_the_worksheet_of_a_class_in_a_browser() -> None:
    """Who is who stands in the worksheet that Moodle exports; its date lets Moodle see later changes."""
    roster = read_roster(WORKSHEET)
    text = moodle_csv([graded("grace hopper"), graded("bob@example.org", 4)], roster)
    taken = worksheet_import(text, {"41": "grace", "42": "bob"})
    assert taken["grace"] == ("7.5", "where: 7.5 of 25: right", "-")
    assert taken["bob"][::2] == ("4", "Tuesday, 24 November 2026, 9:00 AM")
    assert roster.most_points == 25
    by_address = {"grace@example.org": "grace", "bob@example.org": "bob"}
    assert gradebook_import(text, "Email address", by_address) == {"grace": 7.5, "bob": 4}


def test_moodle_takes_what_it_has_packed_without_a_roster() -> None:
    """The names of the files in its archive have the number of each user."""
    done = [graded("grace", owner="Grace Hopper", participant="41")]
    assert worksheet_import(moodle_csv(done), {"41": "grace"})["grace"][0] == "7.5"
    assert worksheet_import(moodle_csv(done, read_roster(WORKSHEET)), {"41": "grace"})["grace"][0] == "7.5"


def test_moodle_takes_feedback_as_html_of_one_line() -> None:
    """What a student wrote is text in it, too."""
    done = [graded("grace", reason="said <b>3</b>\n& not 4", participant="41")]
    done[0] = replace(done[0], marks=replace(done[0].marks, marks=done[0].marks.marks * 2))
    (_, feedback, _) = worksheet_import(moodle_csv(done), {"41": "grace"})["grace"]
    one = "where: 7.5 of 25: said &lt;b&gt;3&lt;/b&gt; &amp; not 4"
    assert feedback == f"{one}<br>{one}"


def test_canvas_takes_its_own_identifiers() -> None:
    """The row of points possible gives a new assignment its points; sections and IDs are Canvas's."""
    text = canvas_csv([graded("Grace Hopper"), graded("bkahn", 4)], "Shallow", read_roster(GRADEBOOK))
    possible, grades = canvas_import(text, {"9001": "grace", "9002": "bob"})
    assert possible == {"Shallow": "25"}
    assert grades == {"grace": {"Shallow": "7.5"}, "bob": {"Shallow": "4"}}
    assert rows_of(text)[2][:5] == ["Hopper, Grace", "9001", "S-1", "ghopper", "Monday group"]


def test_canvas_finds_students_by_name_without_a_roster() -> None:
    """A name, or a login where that is the name."""
    text = canvas_csv([graded("Grace Hopper"), graded("bkahn")], "Shallow")
    _, grades = canvas_import(text, {"Grace Hopper": "grace", "bkahn": "bob"})
    assert set(grades) == {"grace", "bob"}


def test_who_is_nobody_or_two_is_in_no_file() -> None:
    """One unknown user and Moodle takes nothing; two who claim to be one are the teacher's to tell apart."""
    roster = read_roster(WORKSHEET)
    done = [graded("Grace Hopper"), graded("Eve"), graded("bob kahn"), graded("bob@example.org")]
    assert unplaced(done, roster) == ["Eve", "bob kahn", "bob@example.org"]
    assert set(worksheet_import(moodle_csv(done, roster), {"41": "grace", "42": "bob"})) == {"grace"}
    assert len(rows_of(canvas_csv(done, "Shallow", roster))) == 3
    same = read_roster("Student,ID\nAda,1\nAda,2\n")
    assert unplaced([graded("Ada")], same) == ["Ada"]


def test_a_column_tells_who_has_another_name_here() -> None:
    """Nobody else is found by the name that the platform has."""
    roster = read_roster("Student;ID;wirelab\nHopper, Grace;9001;amazing\nKahn, Bob;9002;\n")
    assert roster.finder()("Amazing") == {"name": "Hopper, Grace", "id": "9001", "wirelab": "amazing"}
    assert roster.finder()("Grace Hopper") is None
    assert roster.finder()("Bob Kahn") is not None


@pytest.mark.parametrize("first", FORMULA)
def test_no_cell_is_a_formula(first: str) -> None:
    """A spreadsheet shows what a student wrote, and computes nothing."""
    evil = f"{first}cmd|'/C calc'!A0"
    done = [graded(evil, reason=evil, owner=evil, participant="41")]
    for text in (moodle_csv(done), canvas_csv(done, evil), csv_of(done)):
        cells = [cell for row in rows_of(text) for cell in row]
        assert not [cell for cell in cells if cell.startswith(FORMULA) and cell != "-"]


@pytest.mark.parametrize("identifier", ["=1", "@bob", "-b", "+b"])
def test_a_roster_whose_identifiers_are_formulas_is_refused(identifier: str) -> None:
    """They cannot be written so that both a spreadsheet and an importer take them."""
    with pytest.raises(InputError, match=r"would be a formula"):
        read_roster(f"Student,SIS Login ID\nGrace,{identifier}\n")


@pytest.mark.parametrize("text", ["", "grace\nbob\n", "Teilnehmer,Name der Gruppe\nGrace,1\n", '"\n'])
def test_what_is_no_roster_is_refused(text: str) -> None:
    """With what it has to have."""
    with pytest.raises(InputError, match="column with names"):
        read_roster(text)


def test_a_roster_without_people_is_one() -> None:
    """Then nobody is in it."""
    assert read_roster("Student,ID\n    Points Possible,\n") == Roster()
