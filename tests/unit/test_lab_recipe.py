"""The recipe: what the shipped one says, and what makes two labs the same."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from labs import pack_debian

from wirelab.errors import InputError, LabError
from wirelab.lab import debian, kbuild, kernel, rootfs
from wirelab.lab.cache import Cache
from wirelab.lab.kbuild import missing_settings, settings
from wirelab.lab.recipe import BuildContext, Recipe, Series, hash_of
from wirelab.lab.reporter import Reporter

if TYPE_CHECKING:
    from pathlib import Path

SHIPPED = Recipe.find()
OPTIONS = st.dictionaries(
    st.from_regex(r"CONFIG_[A-Z0-9_]{1,12}", fullmatch=True), st.sampled_from(["y", "n", "100", '"text"'])
)


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A copy of the shipped recipe that a test may change."""
    for name in ("kernel", "rootfs"):
        shutil.copytree(SHIPPED.home / name, tmp_path / name, symlinks=True)
    return Recipe(tmp_path)


def configuration(series: Series) -> str:
    """All that is asked of the kernel of a series."""
    return "".join(path.read_text() for path in SHIPPED.configs(series))


def remembered(recipe: Recipe, series: str | None = None) -> bool:
    """Whether the kernel that was built from the shipped recipe is the one for ``recipe``."""
    cache = Cache(recipe.home / "cache")
    shipped, other = (BuildContext(one, cache, {}, Reporter()) for one in (SHIPPED, recipe))

    def make(_: Path) -> dict[str, object]:
        return {"title": "Linux", "series": "7.2", "objects": 1}

    cache.build("kernel", "k" * 20, make, Reporter())
    cache.remember(kernel.question(shipped, series), "k" * 20)
    return kernel.find(other, series) is not None


def test_the_series_are_those_the_driver_is_tested_with() -> None:
    """Newest first: the first that apt can deliver is built."""
    assert [series.name for series in SHIPPED.choices(None)] == ["7.2", "6.12", "6.1"]
    assert [series.package for series in SHIPPED.choices("6.1")] == ["linux-source-6.1"]
    assert len(set(SHIPPED.series)) == 4, "what is frozen holds nothing that can be changed"


def test_a_series_on_request_is_another_with_more_in_it(recipe: Recipe) -> None:
    """Its source, driver and patches are the other's, its configuration has more; nobody gets it unasked."""
    [full], [plain] = SHIPPED.choices("7.2-full"), SHIPPED.choices("7.2")
    assert full not in SHIPPED.choices(None)
    assert (full.package, SHIPPED.patches(full)) == (plain.package, SHIPPED.patches(plain))
    more = [path.name for path in SHIPPED.configs(full) if path not in SHIPPED.configs(plain)]
    assert more == ["full.config"]
    with (recipe.home / "kernel" / "full.config").open("a") as text:
        text.write("\n")
    assert not remembered(recipe, "7.2-full")
    assert remembered(recipe, "7.2")
    assert remembered(recipe)


def test_an_unknown_series_is_an_input_error() -> None:
    """With the nearest right word."""
    with pytest.raises(InputError, match=r"unknown kernel series `6.13`; did you mean `6.1\d?`"):
        SHIPPED.choices("6.13")


def test_a_larger_image_is_the_plain_one_and_more() -> None:
    """It has all that the plain one has; another image's packages are none of its own."""
    course = SHIPPED.of_image("course")
    assert SHIPPED.images == ("course",)
    assert set(SHIPPED.packages) < set(course.packages)
    assert "iperf" in course.packages
    assert course.of_image("") == SHIPPED


def test_an_unknown_image_is_an_input_error() -> None:
    """With the nearest right word."""
    with pytest.raises(InputError, match=r"unknown root image `curse`; did you mean `course`\?"):
        SHIPPED.of_image("curse")


def test_a_larger_image_is_kept_beside_the_plain_one(recipe: Recipe) -> None:
    """Whichever is asked for is found, and a package more in the larger one leaves the plain one as it is."""
    plain = BuildContext(recipe, Cache(recipe.home / "cache"), {}, Reporter())
    course = plain.of_image("course")
    before = debian.question(plain), debian.question(course)
    assert before[0] != before[1]
    packages = recipe.home / "rootfs" / "with" / "course.txt"
    packages.write_text(packages.read_text(encoding="utf-8") + "cowsay\n", encoding="utf-8")
    assert debian.question(plain) == before[0]
    assert debian.question(course) != before[1]


@pytest.mark.parametrize(
    "line",
    [
        "CONFIG_UML_TIME_TRAVEL_SUPPORT=y",
        "CONFIG_HOSTFS=y",
        "CONFIG_UML_RANDOM=n",
        "CONFIG_HW_RANDOM=n",
        "CONFIG_MODULES=n",
        "CONFIG_STATIC_LINK=y",
        "CONFIG_ETHERPORT=y",
        "CONFIG_OPENVSWITCH=y",
        "CONFIG_NET_SCH_NETEM=y",
    ],
)
def test_the_configuration_has_what_a_repeatable_lab_needs(line: str) -> None:
    """Virtual time, no randomness of the host, nothing to load, our port, Open vSwitch, netem."""
    option, _, value = line.partition("=")
    assert all(settings(configuration(series))[option] == value for series in SHIPPED.series)


def test_no_option_is_named_twice() -> None:
    """A second line for an option would silently win."""
    for series in SHIPPED.series:
        lines = [line for line in configuration(series).splitlines() if line[:7] == "CONFIG_"]
        assert len(lines) == len({line.partition("=")[0] for line in lines})


def test_packages_are_names_without_comments() -> None:
    """And Mininet, Open vSwitch, iperf3 are among them."""
    assert {"mininet", "openvswitch-switch", "iperf3"} <= set(SHIPPED.packages)
    assert all(name.replace("-", "").isalnum() for name in SHIPPED.packages)


@given(OPTIONS)
def test_a_configuration_holds_itself(options: dict[str, str]) -> None:
    """Nothing is missing of what is there, in either way of writing `n`."""
    asked = "".join(f"{option}={value}\n" for option, value in options.items())
    final = "".join(
        f"# {option} is not set\n" if value == "n" else f"{option}={value}\n"
        for option, value in options.items()
    )
    assert missing_settings(asked, final) == []
    assert missing_settings(final, asked) == []


@given(OPTIONS, st.data())
def test_a_lost_option_is_named(options: dict[str, str], data: st.DataObject) -> None:
    """Kconfig drops what it cannot have without a word; only `n` may be, and what is known to be absent."""
    asked = "".join(f"{option}={value}\n" for option, value in options.items())
    wanted = sorted(option for option, value in options.items() if value != "n")
    if not wanted:
        return
    lost = data.draw(st.sampled_from(wanted))
    final = "".join(f"{option}={value}\n" for option, value in options.items() if option != lost)
    assert missing_settings(asked, final) == [f"{lost}={options[lost]}"]
    assert missing_settings(asked, final, {lost}) == []


def test_an_option_that_came_on_uninvited_is_named() -> None:
    """`n` is a demand like any other."""
    assert missing_settings("CONFIG_HW_RANDOM=n\n", "CONFIG_HW_RANDOM=y\n") == ["CONFIG_HW_RANDOM=n"]


@given(st.dictionaries(st.text(), st.text() | st.integers()))
def test_a_key_is_of_the_facts_and_not_of_their_order(facts: dict[str, str | int]) -> None:
    """Equal facts give equal keys; one more fact gives another."""
    assert hash_of(facts) == hash_of(dict(reversed(facts.items())))
    assert hash_of(facts) != hash_of({**facts, "one more": "fact" + str(facts.get("one more"))})


def test_the_same_files_elsewhere_are_the_same_kernel(recipe: Recipe) -> None:
    """A copy in another folder, also with other explanations beside the sources, needs no build."""
    (recipe.home / "kernel" / "README.md").write_text("other words")
    assert remembered(recipe)
    assert remembered(recipe, "6.12")


@pytest.mark.parametrize("file", ["driver/main.c", "driver/Kconfig", "lab.config"])
def test_another_source_is_another_kernel(recipe: Recipe, file: str) -> None:
    """Driver and configuration make the kernel: with either changed the old one is not taken for it."""
    with (recipe.home / "kernel" / file).open("a") as text:
        text.write("\n")
    assert not remembered(recipe)
    assert not remembered(recipe, "6.12")


def test_a_patch_of_one_series_leaves_the_others_alone(recipe: Recipe) -> None:
    """A patch in the folder of a series replaces its namesake there; an empty one drops it."""
    everywhere = recipe.home / "kernel" / "patches"
    shutil.rmtree(everywhere)
    (everywhere / "6.1").mkdir(parents=True)
    for name in ("0001-a.patch", "0002-b.patch"):
        (everywhere / name).write_text("a patch")
    (everywhere / "6.1" / "0001-a.patch").write_text("another patch")
    (everywhere / "6.1" / "0002-b.patch").write_text("")
    chosen = {name: recipe.patches(*recipe.choices(name)) for name in ("7.2", "6.1")}
    assert chosen["7.2"] == (everywhere / "0001-a.patch", everywhere / "0002-b.patch")
    assert chosen["6.1"] == (everywhere / "6.1" / "0001-a.patch",)


def test_another_overlay_is_another_root_image_on_the_same_debian(recipe: Recipe) -> None:
    """A changed file of ours makes a new root image without asking apt or fetching Debian again."""
    context = BuildContext(
        recipe, Cache(recipe.home / "cache"), {"WIRELAB_DEBIAN_MIRROR": "nowhere"}, Reporter()
    )

    def make(folder: Path) -> dict[str, object]:
        pack_debian(folder, recipe, "usr/sbin/wirelab-init", "etc/resolv.conf")
        return {"title": "Debian", "suite": "trixie", "packages": {}, "newest_s": 1_000_000_000}

    base = context.cache.build("debian", "d" * 20, make, Reporter())
    context.cache.remember(debian.question(context), base.key)
    assert rootfs.find(context) is None
    first = rootfs.ensure(context)
    assert rootfs.find(context) == first
    init = first.product / "usr" / "sbin" / "wirelab-init"
    assert init.read_bytes() == (recipe.overlay / "usr" / "sbin" / "wirelab-init").read_bytes()
    assert init.stat().st_mtime == 1_000_000_000
    assert not (first.product / "etc" / "resolv.conf").exists()
    assert str((first.product / "etc" / "mtab").readlink()) == "../proc/self/mounts"
    (recipe.overlay / "etc").mkdir(exist_ok=True)
    (recipe.overlay / "etc" / "hosts").write_text("127.0.0.1 localhost\n")
    assert rootfs.find(context) is None
    second = rootfs.ensure(context)
    assert second.facts["manifest"] != first.facts["manifest"]


def test_the_driver_is_hooked_into_its_menu(tmp_path: Path) -> None:
    """Every file of the driver is in the tree, and Kconfig and Makefile there know of it."""
    menu = tmp_path / "drivers" / "net" / "ethernet"
    menu.mkdir(parents=True)
    (menu / "Kconfig").write_text("menuconfig ETHERNET\n\nif ETHERNET\n\nendif # ETHERNET\n")
    (menu / "Makefile").write_text("obj-y += other/\n")
    kbuild.add_driver(tmp_path, SHIPPED)
    assert (menu / "etherport" / "main.c").read_bytes() == SHIPPED.driver[-1].with_name("main.c").read_bytes()
    assert (
        'if ETHERNET\n\nsource "drivers/net/ethernet/etherport/Kconfig"\n' in (menu / "Kconfig").read_text()
    )
    assert (menu / "Makefile").read_text().endswith("obj-$(CONFIG_ETHERPORT) += etherport/\n")


def test_a_tree_without_that_menu_is_refused(tmp_path: Path) -> None:
    """A kernel that was rearranged is told of, not built without the driver."""
    menu = tmp_path / "drivers" / "net" / "ethernet"
    menu.mkdir(parents=True)
    (menu / "Kconfig").write_text("menu only\n")
    with pytest.raises(LabError, match="no `if ETHERNET`"):
        kbuild.add_driver(tmp_path, SHIPPED)


def test_the_build_sees_nothing_of_the_user() -> None:
    """Compiler flags, make's own variables and the clock stay outside: the same source is the same kernel."""
    ours = {
        "PATH": "/bin",
        "CFLAGS": "-O0",
        "MAKEFLAGS": "-k",
        "ARCH": "arm",
        "KBUILD_BUILD_USER": "me",
        "LANG": "de",
    }
    theirs = kbuild.environment(ours)
    assert theirs["PATH"] == "/bin"
    assert theirs["KBUILD_BUILD_USER"] == "wirelab"
    assert theirs.keys().isdisjoint({"CFLAGS", "MAKEFLAGS", "ARCH", "LANG"})
