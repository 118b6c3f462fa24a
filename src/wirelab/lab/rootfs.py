"""The lab's root image: a Debian 13, mended, with rootfs/overlay and rootfs/links.txt laid over it.

Two entries, so that a change of the overlay does not fetch Debian again: `debian`, packed, and `rootfs`. They
share no files: a lab can see how many names a file has.
"""

from pathlib import Path
from typing import Any

from wirelab.errors import LabError
from wirelab.lab import debian, tree
from wirelab.lab.entry import IMPORTED, PRODUCTS, DebianFacts, Entry
from wirelab.lab.recipe import BuildContext, hash_of, hashes, lines

KIND = "rootfs"
# Raise it whenever this file, unwanted.txt or `tree` changes what comes out.
STEPS_VERSION = 5
LIMIT_BYTES = 250 * 10**6

FILE_SYSTEM_HINT = (
    "a root image needs a file system that keeps names, modes, links and times as they are: "
    "set WIRELAB_CACHE to a folder on one"
)


def find(context: BuildContext) -> Entry | None:
    """The root image of this recipe, None if there is none. Asks nobody."""
    base = debian.find(context)
    return context.cache.find(KIND, key_on(context, base.key)) if base else None


def ensure(context: BuildContext, *, update: bool = False, from_source: bool = False) -> Entry:
    """The root image of this recipe, built if it is not there, or with ``from_source`` if not of here.

    ``update`` asks apt again, for newer packages. Raises LabError if one cannot be had or the build fails.
    """
    base = debian.ensure(context, update=update, from_source=from_source)
    return build_on(context, base, from_source=from_source)


def build_on(
    context: BuildContext, base: Entry, expected: str | None = None, *, from_source: bool = False
) -> Entry:
    """The root image of this recipe on the Debian ``base``, built if it is not there.

    ``expected`` is the manifest of the same image as another machine made it. Raises LabError if this one
    is another, or the build fails.
    """
    key = key_on(context, base.key)

    def make(folder: Path) -> dict[str, Any]:
        root, newest_s = folder / PRODUCTS[KIND], int(base.facts["newest_s"])
        context.reporter.step("unpacking the root image")
        debian.unpack(base, root)
        tree.remove(root, lines(Path(__file__).with_name("unwanted.txt")))
        tree.lay_over(root, context.recipe.overlay, context.recipe.overlay_files, newest_s)
        tree.link(root, context.recipe.links)
        tree.mend(root, context.recipe.mends, newest_s)
        tree.normalize(root, newest_s)
        # The plain one travels, in wheels and images.
        if (size_bytes := tree.size_bytes(root)) > LIMIT_BYTES and not context.recipe.image:
            message = f"the root image holds {size_bytes / 1e6:.0f} MB, more than {LIMIT_BYTES / 1e6:.0f} MB"
            raise LabError(message, hint="rootfs/packages.txt names its packages")
        manifest = tree.manifest(root)
        if expected not in (None, manifest):
            message = "the root image comes out here as another than where it was exported"
            raise LabError(message, hint=FILE_SYSTEM_HINT)
        inherited = {name: base.facts[name] for name in DebianFacts.model_fields}
        facts = {**inherited, "manifest": manifest, "debian": base.key}
        return {**facts, **IMPORTED} if base.is_imported else facts

    entry = context.cache.build(KIND, key, make, context.reporter, from_source=from_source)
    if expected not in (None, entry.facts["manifest"]):
        message = f"{entry.path} is another root image than the one that was exported"
        raise LabError(message, hint=f"rm -r {entry.path}; then import again")
    return entry


def key_on(context: BuildContext, debian_key: str) -> str:
    """The key of the root image of this recipe on a Debian."""
    overlay = hashes(context.recipe.overlay_files, context.recipe.overlay)
    overlay |= {where: f"-> {target}" for where, target in context.recipe.links.items()}
    mends = {mend.file: [mend.old, mend.new] for mend in context.recipe.mends}
    return hash_of({"debian": debian_key, "overlay": overlay, "mends": mends, "steps": STEPS_VERSION})
