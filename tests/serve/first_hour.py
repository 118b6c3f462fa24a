"""A class's first minutes, on the network of the machine that serves it: a run, asked for by a student.

Printed is the page of the run that is done.
"""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))

from served import Visitor

PASSWORD = "correct horse battery"  # noqa: S105 - of a class that is gone after the test
MOST_S = 120


def main() -> None:
    """Set the password by the link of the log, make a course, join it, run a scenario."""
    url, key, scenario = sys.argv[1:]
    teacher = Visitor(url)
    teacher.get(f"/set-up/{key}")
    teacher.post("/set-up", key=key, password=PASSWORD, again=PASSWORD)
    [code] = re.findall(r'big code">([^<]+)', teacher.post("/teacher/courses", title="Networks 1").text)
    ada = Visitor(url)
    ada.post("/join", name="Ada", code=code)
    page = ada.post(f"/bench/{scenario}")
    path = page.url.removeprefix(url)
    deadline_s = time.monotonic() + MOST_S
    while 'data-events="' in page.text and time.monotonic() < deadline_s:
        time.sleep(1)
        page = ada.get(path)
    print(page.status, page.text)  # noqa: T201 - what the test reads


if __name__ == "__main__":
    main()
