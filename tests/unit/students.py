"""What a student of a class has predicted, and how far they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from served import Served, Visitor

    from wirelab.serve.works import Kept

HERE = "/exercises/shallow-buffer"
PREDICTED = {
    "value__burst": "30",
    "unit__burst": "kB",
    "why__burst": "It drains while it fills.",
    "value__upload": "2.3",
    "unit__upload": "Gbit/s",
    "why__upload": "Nothing has to wait.",
    "value__download": "1.1 Gbit/s",
    "unit__download": "Mbit/s",
    "why__download": "TCP sends again.",
    "value__retransmits": "400",
    "why__retransmits": "A guess.",
}


def kept(served: Served, name: str = "Ada") -> Kept:
    """What is kept of a student's work."""
    course = served.room.courses.all()[0]
    student = next(one for one in served.room.students.of_course(course.id) if one.name == name)
    found = served.room.works.get(student.id, "shallow-buffer")
    assert found is not None
    return found


def ready(served: Served, name: str = "Ada") -> Visitor:
    """A student who has predicted and run the network."""
    visitor = served.student(name)
    assert visitor.post(f"{HERE}/seal", **PREDICTED).status == 200
    assert visitor.post(f"{HERE}/run").status == 200
    served.wait_for_runs()
    visitor.get(HERE)
    return visitor
