"""status.json and settings.json -> how the lab ended, and what its settings were read back as."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from wirelab.errors import LabError
from wirelab.results.rawjson import Field, read_json

STATUS_FILE = "status.json"
SETTINGS_FILE = "settings.json"


@dataclass(frozen=True, slots=True)
class Readback:
    """One setting of a port as it was asked for and as it was read back."""

    port: str
    setting: str
    asked: object
    actual: object

    @property
    def differs(self) -> bool:
        """Whether the lab did not do what it was asked for."""
        return self.asked != self.actual


@dataclass(frozen=True, slots=True)
class Status:
    """How the lab ended, and what it was made of.

    ``ready_ns`` is the lab's clock when its network was ready, from where its traffic counts. Ports have been
    counting from ``counted_from_ns`` on, which is earlier.
    """

    virtual_s: float
    ready_ns: int
    kernel: str
    tools: Mapping[str, str]
    counted_from_ns: int = 0


def read_status(raw: Path) -> Status:
    """How the lab ended. Raises LabError with the lab's own message when it ended in an error."""
    root = read_json(raw, STATUS_FILE)
    status = root["status"]
    if status.text() == "error":
        hint = root.get("hint")
        raise LabError(root["message"].text(), hint=hint.text() if hint and hint.value else None)
    if status.text() != "done":
        raise status.broken(f"expected `done` or `error`, found {status.text()!r}")
    ready_ns = root["ready_ns"].integer()
    counted_from = root.get("counted_from_ns")
    return Status(
        virtual_s=root["virtual_s"].number(),
        ready_ns=ready_ns,
        counted_from_ns=ready_ns if counted_from is None else counted_from.integer(),
        kernel=root["kernel"].text(),
        tools={name: version.text() for name, version in root["tools"].members()},
    )


def read_readbacks(raw: Path) -> tuple[Readback, ...]:
    """Every setting that the lab made. Raises LabError when the file is not whole."""
    return parse_readbacks(read_json(raw, SETTINGS_FILE))


def parse_readbacks(settings: Field) -> tuple[Readback, ...]:
    """A list of settings. Raises LabError when it is not whole."""
    return tuple(
        Readback(item["port"].text(), item["setting"].text(), item["asked"].value, item["actual"].value)
        for item in settings.elements()
    )
