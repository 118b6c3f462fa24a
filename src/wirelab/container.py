"""Inside a container: whose a folder from outside is, and which line opens it to whom runs there."""

import errno
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

# https://systemd.io/CONTAINER_INTERFACE: who starts a container, or its image, sets it.
VARIABLE: Final = "container"
UID_MAP: Final = Path("/proc/self/uid_map")

MEMORY_HINT: Final = "start the container with --tmpfs /tmp:exec"

_CALLER: Final = '--user "$(id -u):$(id -g)"'


def is_one(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a container."""
    return bool(environ.get(VARIABLE))


def hint(
    error: OSError, folder: Path, environ: Mapping[str, str] = os.environ, uid_map: Path = UID_MAP
) -> str | None:
    """What to say to the engine so that ``folder`` can be written; None where that is not the trouble."""
    if not is_one(environ):
        return None
    absolute = folder.absolute()
    place = next(path for path in (absolute, *absolute.parents) if os.access(path, os.F_OK))
    if error.errno == errno.EROFS:
        return (
            f'start the container with a folder of yours at {place}: -v "$PWD/results:{place}", without `:ro`'
        )
    if error.errno not in (errno.EACCES, errno.EPERM):
        return None
    owner, user = place.stat(), os.geteuid()
    whose = f"{place} belongs to user {owner.st_uid}, and this container runs as user {user}"
    if owner.st_uid:
        return f"{whose}: start it with --user {owner.st_uid}:{owner.st_gid}"
    if _maps_users(uid_map):
        return f"{whose}: start it with --user 0:0, which is you outside"
    return f'{whose}: outside, sudo chown "$(id -u):$(id -g)" {place.name}, then start it with {_CALLER}'


def _maps_users(uid_map: Path) -> bool:
    """Whether users have other numbers outside, as an engine has it that an ordinary user runs."""
    try:
        inside, outside, _ = uid_map.read_text(encoding="ascii").split(maxsplit=2)
    except (OSError, ValueError):
        return False
    return inside != outside
