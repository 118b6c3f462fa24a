"""What a fleet costs: a matrix over two ssh workers that share this machine, against one run with two labs.

``python bench/fleet.py [SCENARIO]...``, as root: each worker has a CPU, both ways measure anew.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.fleet.conftest import make_export, own_python
from tests.fleet.hosts import Switch
from tests.fleet.play import CHECKOUT, Controller

SCENARIOS = ("sfp-mismatch", "clean-10g", "pcie-x1", "firewall-rules", "sfp-flow-control-off", "driver-bound")
GOAL = 1.15


def local_s(controller: Controller, names: list[str], number: int) -> float:
    """Wall seconds of ``wirelab run`` with two labs at once."""
    argv = [sys.executable, "-m", "wirelab", "run", *names, "-j", "2", "--no-cache"]
    begun_s = time.monotonic()
    subprocess.run(
        [*argv, "--out", str(controller.folder / f"local-{number}")],
        cwd=controller.folder,
        env=controller.environ(),
        capture_output=True,
        check=True,
    )
    return time.monotonic() - begun_s


def fleet_s(controller: Controller, inventory: Path, names: list[str], number: int) -> float:
    """Wall seconds of the playbook, from the command to its exit code."""
    options = json.dumps({"scenarios": " ".join(names), "wirelab_use_cache": False})
    results = f"wirelab_results={controller.folder}/fleet-{number}"
    begun_s = time.monotonic()
    played = controller.play("matrix", inventory, "-e", options, "-e", results)
    if played.code != 0:
        raise SystemExit(played.text)
    return time.monotonic() - begun_s


def main() -> None:
    """Measure both ways in turn, and print medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("scenarios", nargs="*", default=SCENARIOS)
    args = parser.parse_args()
    names = list(args.scenarios)
    cpus = sorted(os.sched_getaffinity(0))[:2]
    if len(cpus) < 2:  # noqa: PLR2004 - two workers
        raise SystemExit("two workers need two CPUs")
    with tempfile.TemporaryDirectory(prefix="wirelab-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Switch(folder, CHECKOUT) as switch:
            controller = Controller(switch, folder)
            make_export(controller, own_python())
            hosts = [switch.add(name) for name in ("left", "right")]
            variables = {host.name: {"wirelab_cpus": [cpu]} for host, cpu in zip(hosts, cpus, strict=True)}
            inventory = controller.inventory("bench", {"workers": hosts}, of_each=variables)
            if (played := controller.play("provision", inventory)).code != 0:
                raise SystemExit(played.text)
            walls_s: dict[str, list[float]] = {"local": [], "fleet": []}
            for number in range(args.rounds):
                # What a scenario took is known then, as it is on the second day.
                walls_s["local"].append(local_s(controller, names, number))
                walls_s["fleet"].append(fleet_s(controller, inventory, names, number))
                print(
                    f"round {number + 1}:",
                    {way: round(times[-1], 1) for way, times in walls_s.items()},
                    flush=True,
                )
            controller.hang_up()
    local, fleet = (statistics.median(walls_s[way]) for way in ("local", "fleet"))
    print(f"{len(names)} scenarios: wirelab run -j 2 {local:.1f} s, two ssh workers {fleet:.1f} s")
    print(f"ratio {fleet / local:.3f}, goal at most {GOAL}")


if __name__ == "__main__":
    main()
