"""PID 1 of the lab: reads what is to be done, does it, leaves the results and switches itself off."""

import ctypes
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from wirelab.guest import clock, command, experiment, openvswitch, surroundings

_LAB = Path("/run/wirelab")
_PLAN = _LAB / "plan"
_RESULTS = _LAB / "results"

# linux/reboot.h
_RB_POWER_OFF = 0x4321FEDC


def main() -> None:
    """Run the command or the Plan that the plan folder holds; ``status.json`` says how it went."""
    try:
        is_command = (_PLAN / "command.json").exists()
        status = _commanded() if is_command else experiment.run(_PLAN, _RESULTS)
    except Exception as error:  # noqa: BLE001 whatever it is, it must reach the host as a message
        traceback.print_exc()
        status = {"status": "error", "message": f"{error}" or type(error).__name__, "hint": None}
    _write_status({**status, "virtual_s": clock.now_ns() / clock.NS_PER_S})
    sys.stderr.flush()
    os.sync()
    ctypes.CDLL(None).reboot(_RB_POWER_OFF)


def _commanded() -> dict[str, Any]:
    """Run the command of a lab for `wirelab exec`; one for `wirelab shell` has a Plan beside it."""
    if (_PLAN / "plan.json").exists():
        # Read here alone: a file more for each run would move its random numbers.
        from wirelab.guest import session  # noqa: PLC0415

        return session.run(_PLAN, _RESULTS)
    surroundings.prepare()
    openvswitch.start(refresh=True)
    return command.run(_PLAN, _RESULTS)


def _write_status(status: dict[str, Any]) -> None:
    # Written last and under another name first: a status that can be read is whole.
    partial = _RESULTS / "status.json.partial"
    partial.write_text(json.dumps(status, indent=1) + "\n")
    partial.rename(_RESULTS / "status.json")


if __name__ == "__main__":
    main()
