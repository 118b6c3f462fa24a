"""Workers of every release that the playbooks claim: `make test-releases`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.fleet import roots
from tests.fleet.conftest import QUICKEST, make_export
from tests.fleet.hosts import CannotError
from tests.fleet.test_provision import remote_home, ssh

if TYPE_CHECKING:
    from tests.fleet.play import Controller


def test_a_worker_of_another_release(controller: Controller, release: str) -> None:
    """From a minimal system to a worker and back.

    It gets python3-venv by sudo, wheels for its own Python and the lab of the controller; the second time
    changes nothing; a scenario has the controller's digest; and at the end its home is as empty as before.
    """
    python = roots.RELEASES[release]
    root = controller.folder / f"root-{release}"
    try:
        roots.make(release, root)
        host = controller.switch.add(release, roots.FRESH_INDEX, root)
    except CannotError as error:
        pytest.skip(f"no {release} here: {error}")
    make_export(controller, python)
    inventory = controller.inventory(release, {"workers": [host], "students": [host]})

    first = controller.play("provision", inventory)
    assert first.code == 0, first.text
    assert ssh(controller, host.address, "ls /usr/lib/python3*/ensurepip/__init__.py") != "", first.text
    version = f"{remote_home()}/venv/bin/python -c 'import sys; print(*sys.version_info[:2], sep=\".\")'"
    assert ssh(controller, host.address, version).strip() == python
    second = controller.play("provision", inventory)
    assert (second.code, second.changed) == (0, 0), second.text

    verified = controller.play("classroom", inventory, "-e", f"wirelab_verify={QUICKEST}")
    assert verified.code == 0, verified.text
    assert f"{release}: ready" in verified.text

    gone = controller.play("teardown", inventory)
    assert gone.code == 0, gone.text
    assert {path.name for path in host.home.iterdir()} <= {".ansible"}
