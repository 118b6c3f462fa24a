"""The fingerprint of what was measured in virtual time: equal runs, equal bytes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

# What iperf3 says of the machine and the build it runs on, and the name and port that it draws for its own
# conversation: those change with whatever else has drawn a random number before.
_NOT_MEASURED = {
    "start": frozenset({"version", "system_info", "cookie", "accepted_connection"}),
    "end": frozenset({"cpu_utilization_percent"}),
}


def digest(flows: Mapping[str, Any], counters: object, samples: Iterable[object]) -> str:
    """SHA-256 over the raw flow files, counters and samples, in hexadecimal.

    ``flows`` holds what each end of a flow said, by file name.
    """
    measured = {name: _measured(report) for name, report in flows.items()}
    return _sha256({"flows": measured, "counters": counters, "samples": list(samples)})


def combined(digests: Mapping[str, str]) -> str:
    """The digest of a run out of those of its variants, whatever their order."""
    return _sha256(dict(digests))


def _measured(report: dict[str, Any]) -> dict[str, Any]:
    return {
        section: {key: value for key, value in content.items() if key not in _NOT_MEASURED[section]}
        if section in _NOT_MEASURED and isinstance(content, dict)
        else content
        for section, content in report.items()
    }


def _sha256(measured: object) -> str:
    text = json.dumps(measured, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()
