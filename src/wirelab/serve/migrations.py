"""The tables of a classroom, and how an older database becomes a newer one.

A database says by its `user_version` how many of these steps it has had. A step that was released is never
changed: what comes later is a step of its own.
"""

from typing import Final

_PEOPLE: Final = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE course (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, code TEXT NOT NULL UNIQUE, made_s REAL NOT NULL
) STRICT;
CREATE TABLE student (
  id TEXT PRIMARY KEY,
  course TEXT NOT NULL REFERENCES course (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  code TEXT NOT NULL UNIQUE,
  joined_s REAL NOT NULL,
  seen_s REAL NOT NULL,
  UNIQUE (course, folded)
) STRICT;
"""

_RUNS: Final = """
CREATE TABLE run (
  id TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'running', 'done', 'broken')),
  expected_s REAL NOT NULL,
  asked_s REAL NOT NULL,
  wall_s REAL,
  cached INTEGER NOT NULL DEFAULT 0,
  folder TEXT,
  message TEXT
) STRICT;
CREATE INDEX run_state ON run (state, asked_s);
CREATE TABLE asked (
  run TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
  person TEXT NOT NULL,
  at_s REAL NOT NULL,
  PRIMARY KEY (run, person)
) STRICT;
CREATE INDEX asked_person ON asked (person, at_s);
"""

_EXERCISES: Final = """
CREATE TABLE work (
  student TEXT NOT NULL REFERENCES student (id) ON DELETE CASCADE,
  exercise TEXT NOT NULL,
  text TEXT NOT NULL,
  draft TEXT NOT NULL DEFAULT '{}',
  marks TEXT,
  changed_s REAL NOT NULL,
  PRIMARY KEY (student, exercise)
) STRICT;
CREATE TABLE attempt (
  number INTEGER PRIMARY KEY,
  student TEXT NOT NULL,
  exercise TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('run', 'experiment', 'repair', 'marks')),
  name TEXT NOT NULL,
  settings TEXT NOT NULL,
  run TEXT NOT NULL REFERENCES run (id),
  settled INTEGER NOT NULL DEFAULT 0,
  UNIQUE (student, exercise, kind, name),
  FOREIGN KEY (student, exercise) REFERENCES work (student, exercise) ON DELETE CASCADE
) STRICT;
CREATE INDEX attempt_settled ON attempt (settled);
CREATE TABLE closed (
  course TEXT NOT NULL REFERENCES course (id) ON DELETE CASCADE,
  exercise TEXT NOT NULL,
  PRIMARY KEY (course, exercise)
) STRICT;
CREATE TABLE laid_aside (
  student TEXT NOT NULL, exercise TEXT NOT NULL, text TEXT NOT NULL, at_s REAL NOT NULL
) STRICT;
"""

_POINTS: Final = "ALTER TABLE work ADD COLUMN given TEXT NOT NULL DEFAULT '{}'"

_ROSTER: Final = "ALTER TABLE course ADD COLUMN roster TEXT NOT NULL DEFAULT ''"

_JOINED: Final = "ALTER TABLE student ADD COLUMN joined_by TEXT NOT NULL DEFAULT ''"

MIGRATIONS: Final = (_PEOPLE, _RUNS, _EXERCISES, _POINTS, _ROSTER, _JOINED)
