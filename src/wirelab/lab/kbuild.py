"""How a lab kernel is built: Debian's kernel source, our driver and patches, `make ARCH=um`."""

import re
import shutil
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from os import sched_getaffinity
from pathlib import Path
from typing import Any

from wirelab.errors import LabError
from wirelab.lab import apt
from wirelab.lab.entry import PRODUCTS
from wirelab.lab.mirror import Mirror
from wirelab.lab.process import output, run
from wirelab.lab.recipe import BuildContext, Recipe, Series
from wirelab.lab.reporter import counter

BINARY = PRODUCTS["kernel"]
CONFIG = "config"
WANTED = "wanted.config"
DURATION = "build_s"
# Raise it whenever this file changes what comes out.
STEPS_VERSION = 1
SPACE_BYTES = 3 << 30
DRIVER_FOLDER = "drivers/net/ethernet/etherport"
MAKE = ("make", "ARCH=um")
# The kernel mixes its own version string into its random numbers: one that names the build's time and place
# would make every build another machine.
BUILD_STAMP = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "wirelab",
    "KBUILD_BUILD_HOST": "wirelab",
    "KBUILD_BUILD_VERSION": "1",
}

_SETTING = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)
_UNSET = re.compile(r"^# (CONFIG_\w+) is not set$", re.MULTILINE)


@dataclass(frozen=True)
class KernelSource:
    """A kernel source that apt can deliver: of which series, in which version, from where."""

    series: Series
    version: str
    suite: str
    mirror: Mirror


def build(
    context: BuildContext, source: KernelSource, folder: Path, name: str, objects: int
) -> dict[str, Any]:
    """Fill ``folder`` with a kernel, its configuration and its log. Returns what it is.

    ``name`` is the log's; ``objects`` is how many files it will likely compile.
    """
    begun_s = time.monotonic()
    if lack := space_lacking(folder.parent):
        raise LabError(lack, hint="make room, or set WIRELAB_CACHE to a folder on a larger disk")
    log = context.cache.log(name)
    tree = folder / "source"
    env = environment(context.environ)
    series = source.series

    _unpack(context, source, folder, log)
    context.reporter.step("adding the driver")
    add_driver(tree, context.recipe)
    for patch in context.recipe.patches(series):
        instead = patch.parent / series.release / patch.name
        hint = f"{patch} does not apply to Linux {series.release}: put one that does at {instead}"
        run(["patch", "-p1", "--batch", "--forward", "-i", str(patch)], log=log, cwd=tree, hint=hint)

    context.reporter.step("configuring")
    wanted = "".join(path.read_text(encoding="utf-8") for path in context.recipe.configs(series))
    (folder / WANTED).write_text(wanted, encoding="utf-8")
    run([*MAKE, f"KCONFIG_ALLCONFIG={folder / WANTED}", "allnoconfig"], log=log, cwd=tree, env=env)
    final = (tree / ".config").read_text(encoding="utf-8")
    if lost := missing_settings(wanted, final, series.absent):
        message = f"the kernel's configuration came out without {', '.join(lost)}"
        hint = f"see what they depend on; list what {series.name} does not have in kernel/series.toml"
        raise LabError(message, hint=hint)

    count = counter(context.reporter, f"compiling Linux {series.name}", objects, "  CC ")
    jobs = f"-j{len(sched_getaffinity(0))}"
    hint = "the first error in the log says why"
    # In the source tree, so that no path of this machine gets into the kernel.
    run([*MAKE, jobs, "linux"], log=log, cwd=tree, env=env, on_line=count, hint=hint)

    shutil.copy2(tree / BINARY, folder / BINARY)
    shutil.copyfile(tree / ".config", folder / CONFIG)
    shutil.copyfile(log, folder / "build.log")
    shutil.rmtree(tree)
    (folder / WANTED).unlink()
    release = output([str(folder / BINARY), "--version"]).strip()
    return {
        "title": f"Linux {release}" + (f", {series.name}" if series.source else ""),
        "release": release,
        "series": series.name,
        "package": series.package,
        "version": source.version,
        "suite": source.suite,
        "objects": count(""),
        DURATION: round(time.monotonic() - begun_s),
    }


def _unpack(context: BuildContext, source: KernelSource, folder: Path, log: Path) -> None:
    name = source.series.package
    context.reporter.step(f"fetching {name} {source.version}")
    with apt.querying(context, source.mirror, [source.suite]) as query:
        package = query.download(name, source.version, context.cache.folder("downloads"))
    context.reporter.step("unpacking the source")
    unpacked, tree = folder / "package", folder / "source"
    run(["dpkg-deb", "--extract", str(package), str(unpacked)], log=log)
    tree.mkdir()
    archive = unpacked / "usr" / "src" / f"{name}.tar.xz"
    run(["tar", "-xf", str(archive), "-C", str(tree), "--strip-components=1"], log=log)
    shutil.rmtree(unpacked)


def add_driver(tree: Path, recipe: Recipe) -> None:
    """Put the driver into a kernel tree and hook it into the Kconfig and Makefile there."""
    target = tree / DRIVER_FOLDER
    target.mkdir(parents=True)
    for source in recipe.driver:
        shutil.copyfile(source, target / source.name)
    kconfig_file, makefile = target.parent / "Kconfig", target.parent / "Makefile"
    # Within the menu, so that it depends on what the menu depends on.
    hook = f'if ETHERNET\n\nsource "{DRIVER_FOLDER}/Kconfig"'
    text = kconfig_file.read_text(encoding="utf-8")
    hooked, count = re.subn(r"^if ETHERNET$", hook, text, count=1, flags=re.MULTILINE)
    if count != 1:
        raise LabError(f"{kconfig_file} has no `if ETHERNET` to hook the driver to")
    kconfig_file.write_text(hooked, encoding="utf-8")
    with makefile.open("a", encoding="utf-8") as lines:
        lines.write("obj-$(CONFIG_ETHERPORT) += etherport/\n")


def environment(ours: Mapping[str, str]) -> dict[str, str]:
    """The environment of the build: nothing of ours that could change what comes out."""
    kept = {name: ours[name] for name in ("PATH", "HOME", "TMPDIR") if name in ours}
    return {**kept, "LC_ALL": "C", **BUILD_STAMP}


def settings(config: str) -> dict[str, str]:
    """The options of a configuration with their values; one that is not set is ``n``."""
    return dict.fromkeys(_UNSET.findall(config), "n") | dict(_SETTING.findall(config))


def missing_settings(wanted: str, final: str, absent: Collection[str] = ()) -> list[str]:
    """The lines of ``wanted`` that ``final`` does not hold, but for the options known to be ``absent``.

    Kconfig drops in silence what it cannot have.
    """
    options = settings(final)
    return [
        f"{option}={value}"
        for option, value in settings(wanted).items()
        if option not in absent and options.get(option, "n") != value
    ]


def space_lacking(folder: Path) -> str | None:
    """What to say if the disk of ``folder`` has no room for a kernel build, None if it has."""
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes >= SPACE_BYTES:
        return None
    return f"{folder} has {free_bytes / 2**30:.1f} GiB free, a kernel build takes {SPACE_BYTES >> 30} GiB"
