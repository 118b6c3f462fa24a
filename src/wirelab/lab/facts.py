"""What a build says of itself, in the cache and on its way to other machines; read back, it is checked."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

Line = Annotated[str, StringConstraints(pattern=r"^[ -~]{1,200}$")]
Key = Annotated[str, StringConstraints(pattern=r"^[0-9a-z]{20}$")]
# Both may come to be a file's time, which not every file system has beyond 32 bits.
Seconds = Annotated[int, Field(ge=0, lt=1 << 32)]


class Facts(BaseModel):
    """Of any build; what else it says is for people."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow")

    title: Line


class KernelFacts(Facts):
    """Of a kernel: its series, and how many files were compiled."""

    series: Line
    objects: Annotated[int, Field(ge=0, lt=1 << 32)]


class DebianFacts(Facts):
    """Of a packed Debian: no package of it is newer than ``newest_s``, in seconds since 1970."""

    suite: Line
    packages: dict[str, str]
    newest_s: Seconds


class RootFacts(DebianFacts):
    """Of a root image: a hash over all that a lab sees of it, and the key of its Debian."""

    manifest: Line
    debian: Line


class KeptFacts(BaseModel):
    """What the cache adds for itself. ``watched``: see `integrity.record`; older entries have none."""

    model_config = ConfigDict(strict=True)

    made_at_s: Seconds
    size_bytes: Annotated[int, Field(ge=0)]
    watched: dict[str, tuple[int, int]] = {}


FACTS: Final[dict[str, type[Facts]]] = {"kernel": KernelFacts, "debian": DebianFacts, "rootfs": RootFacts}
