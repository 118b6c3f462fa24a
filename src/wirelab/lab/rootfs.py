"""The lab's root image: a Debian 13 with the files of rootfs/overlay and rootfs/links.txt laid over it.

Two entries, so that a change of the overlay does not fetch Debian again: `debian`, packed, and `rootfs`. They
share no files: a lab can see how many names a file has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirelab.errors import LabError
from wirelab.lab import debian, tree
from wirelab.lab.facts import DebianFacts
from wirelab.lab.recipe import hash_of, hashes

if TYPE_CHECKING:
    from pathlib import Path

    from wirelab.lab.context import BuildContext
    from wirelab.lab.entry import Entry

KIND = "rootfs"
ROOT = "root"
# Raise it whenever this file or `tree` changes what comes out.
STEPS_VERSION = 4
LIMIT_BYTES = 250 * 10**6

# What differs between two builds of the same packages, tells of the machine that built it, or is dead weight.
UNWANTED = (
    "etc/.pwd.lock",
    "etc/*-",
    "etc/apt/apt.conf.d/99mmdebstrap",
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/*",
    "etc/default/locale",
    "etc/dpkg/dpkg.cfg.d/99mmdebstrap",
    "etc/hostname",
    "etc/openvswitch-testcontroller/*.pem",
    "etc/resolv.conf",
    "etc/vconsole.conf",
    "root/.ssh",
    "run/*",
    "tmp/*",
    # Written by whichever program came first, in one of two forms.
    "usr/share/python3/debpython/__pycache__",
    "var/cache/*",
    "var/lib/apt/lists/*",
    "var/lib/dpkg/*-old",
    "var/lib/libuuid",
    "var/lib/openvswitch/pki",
    "var/lib/private",
    # Installing makes some of these only where it may mount /proc, which a container forbids.
    "var/lib/systemd/*",
    "var/log/*",
    "var/tmp/*",
)
FILE_SYSTEM_HINT = (
    "a root image needs a file system that keeps names, modes, links and times as they are: "
    "set WIRELAB_CACHE to a folder on one"
)


def find(context: BuildContext) -> Entry | None:
    """The root image of this recipe, None if there is none. Asks nobody."""
    base = debian.find(context)
    return context.cache.find(KIND, key_on(context, base.key)) if base else None


def ensure(context: BuildContext, *, update: bool = False) -> Entry:
    """The root image of this recipe, built if it is not there.

    ``update`` asks apt again, for newer packages. Raises LabError if one cannot be had or the build fails.
    """
    return build_on(context, debian.ensure(context, update=update))


def build_on(context: BuildContext, base: Entry, expected: str | None = None) -> Entry:
    """The root image of this recipe on the Debian ``base``, built if it is not there.

    ``expected`` is the manifest of the same image as another machine made it. Raises LabError if this one
    is another, or the build fails.
    """
    key = key_on(context, base.key)

    def make(folder: Path) -> dict[str, Any]:
        root, newest_s = folder / ROOT, int(base.facts["newest_s"])
        context.reporter.step("unpacking the root image")
        debian.unpack(base, root, context.cache.log(f"{KIND}-{key}"))
        tree.remove(root, UNWANTED)
        tree.lay_over(root, context.recipe.overlay, context.recipe.overlay_files, newest_s)
        tree.link(root, context.recipe.links)
        tree.normalize(root, newest_s)
        _require_small(root)
        manifest = tree.manifest(root)
        if expected not in (None, manifest):
            message = "the root image comes out here as another than where it was exported"
            raise LabError(message, hint=FILE_SYSTEM_HINT)
        inherited = DebianFacts.model_fields
        return {
            **{name: base.facts[name] for name in inherited},
            "manifest": manifest,
            "debian": base.key,
        }

    entry = context.cache.build(KIND, key, make, context.reporter)
    if expected not in (None, entry.facts["manifest"]):
        message = f"{entry.path} is another root image than the one that was exported"
        raise LabError(message, hint=f"rm -r {entry.path}; then import again")
    return entry


def path(entry: Entry) -> Path:
    """The folder a lab takes as its root."""
    return entry.path / ROOT


def key_on(context: BuildContext, debian_key: str) -> str:
    """The key of the root image of this recipe on a Debian."""
    overlay = hashes(context.recipe.overlay_files, context.recipe.overlay)
    overlay |= {where: f"-> {target}" for where, target in context.recipe.links.items()}
    return hash_of({"debian": debian_key, "overlay": overlay, "steps": STEPS_VERSION})


def _require_small(root: Path) -> None:
    size_bytes = tree.size_bytes(root)
    if size_bytes > LIMIT_BYTES:
        message = f"the root image holds {size_bytes / 1e6:.0f} MB, more than {LIMIT_BYTES / 1e6:.0f} MB"
        raise LabError(message, hint="rootfs/packages.txt names its packages")
