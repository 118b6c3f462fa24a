"""The house rules that a reader of one file cannot see: imports point one way and do nothing."""

from __future__ import annotations

import ast
import graphlib
import re
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "src"

# Leaves: each may be imported by whoever comes after it.
LEAVES = ["errors", "container", "units"]

# So many parts stand on each other at the most.
MOST_FLOORS = 11

# Folders: each may import itself and what stands before it, in whatever form: for types alone, too.
FOLDERS = ["model", "plan", "guest", "lab", "results", "verdict", "runner", "report"]
FOLDERS += ["exercise", "shell", "api", "serve", "cli", "fleet"]

# The other ways in.
DOORS = ["pytest_plugin", "__main__"]

ORDER = [*LEAVES, *FOLDERS, *DOORS]

# What host and guest both read: the Plan, and how a way through it is found.
SHARED = {
    "wirelab.model",
    "wirelab.model.graph",
    "wirelab.model.trace",
    "wirelab.plan",
    "wirelab.plan.bond",
    "wirelab.plan.capture",
    "wirelab.plan.event",
    "wirelab.plan.iproute2",
    "wirelab.plan.jsonform",
    "wirelab.plan.node",
    "wirelab.plan.path",
    "wirelab.plan.port_settings",
    "wirelab.plan.queue",
    "wirelab.plan.shape",
    "wirelab.plan.tagged",
    "wirelab.plan.traffic",
    "wirelab.plan.traffic.copy",
    "wirelab.plan.traffic.iperf3",
    "wirelab.plan.traffic.item",
    "wirelab.plan.traffic.ping",
    "wirelab.plan.types",
}

# One module owns each of these; the guest has its own, for it runs on another machine.
OWNERS = {
    # process.py runs tools to their end; kernel_process.py is the one process that is the lab.
    "subprocess": {"wirelab.lab.process", "wirelab.lab.kernel_process", "wirelab.guest.shell"},
    "yaml": {"wirelab.model.yamlfile"},
    "mininet": {"wirelab.guest.network", "wirelab.guest.nodes"},
}


@dataclass(frozen=True)
class Module:
    """One source file and what it imports."""

    name: str
    tree: ast.Module

    @property
    def part(self) -> str:
        """The part of the house it belongs to: the package or module right below wirelab."""
        return self.name.split(".")[1] if "." in self.name else ""

    @cached_property
    def imports(self) -> set[str]:
        """The full names of all it imports, anywhere in the file."""
        return _imports(ast.walk(self.tree))

    @cached_property
    def runtime_imports(self) -> set[str]:
        """The full names of what is imported when the module is."""
        return _imports(iter(self.tree.body))


def _imports(nodes: object) -> set[str]:
    imported: set[str] = set()
    for node in nodes:  # type: ignore[attr-defined]
        if isinstance(node, ast.Import):
            imported.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            imported.update(_imported(node.module or "", alias.name) for alias in node.names)
    return imported


def _imported(module: str, name: str) -> str:
    """The module that ``from module import name`` reaches: ``name`` may be a module itself."""
    path = SOURCE.joinpath(*module.split("."), name)
    return f"{module}.{name}" if path.is_dir() or path.with_suffix(".py").is_file() else module


def _name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = [
    Module(_name(path), ast.parse(path.read_text(encoding="utf-8"), str(path)))
    for path in sorted(SOURCE.rglob("*.py"))
]
each_module = pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)


def test_the_shape_is_the_one_that_contributors_read_of() -> None:
    """The table in CONTRIBUTING.md goes down the same list."""
    text = (SOURCE.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## The shape of it")[2].partition("\n\nOn the host")[0]
    rows = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    assert [name.rstrip("/") for row in rows for name in re.findall("`(.+?)`", row)] == ORDER[:-1]


def test_every_module_has_a_place() -> None:
    """A new module says where it stands before anything may import it."""
    assert {module.part for module in MODULES} - {""} <= set(ORDER)


@each_module
def test_imports_point_down(module: Module) -> None:
    """YAML -> Scenario -> Plan -> lab -> raw files -> Result -> Verdicts -> report, never back."""
    allowed = {"", *ORDER[: ORDER.index(module.part) + 1]} if module.part else {""}
    parts = {
        name.split(".")[1] if "." in name else "" for name in module.imports if name.startswith("wirelab")
    }
    assert parts <= allowed


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Not within a package either: there is an order in which all of them can be read."""
    names = {module.name for module in MODULES}
    graph = {module.name: module.runtime_imports & names - {module.name} for module in MODULES}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(names)


def test_parts_stand_on_few_floors() -> None:
    """Each part stands right above the highest of those that it imports."""
    below: dict[str, set[str]] = {part: set() for part in ["", *ORDER]}
    for module in MODULES:
        names = {name for name in module.imports if name.startswith("wirelab.")}
        below[module.part] |= {name.split(".")[1] for name in names} - {module.part}
    floors: dict[str, int] = {}
    for part in graphlib.TopologicalSorter(below).static_order():
        floors[part] = 1 + max((floors[other] for other in below[part]), default=0)
    assert max(floors.values()) <= MOST_FLOORS


@pytest.mark.parametrize("folder", ["model", "lab", "fleet"])
def test_a_folder_can_be_read_from_its_leaves_up(folder: str) -> None:
    """In these not even the types of two modules name each other."""
    modules = {module.name: module.imports for module in MODULES if module.part == folder}
    graph = {name: (imports & modules.keys()) - {name} for name, imports in modules.items()}
    assert len(list(graphlib.TopologicalSorter(graph).static_order())) == len(modules)


@each_module
def test_one_module_owns_each_door_to_the_outside(module: Module) -> None:
    """Whoever wants to run, read YAML or build a network asks the module that owns it."""
    roots = {name.partition(".")[0] for name in module.imports}
    assert {door for door in roots & OWNERS.keys() if module.name not in OWNERS[door]} == set()


@pytest.mark.parametrize(
    "module",
    [module for module in MODULES if module.part == "guest" or module.name in {"wirelab", *SHARED}],
    ids=lambda module: module.name,
)
def test_the_guest_needs_nothing_of_the_host(module: Module) -> None:
    """What runs inside the lab imports the standard library, Mininet, the Plan's types and itself."""
    for name in module.imports:
        root = name.partition(".")[0]
        if root == "wirelab":
            assert name in {"wirelab", *SHARED} or name.startswith("wirelab.guest")
        else:
            assert root in sys.stdlib_module_names | {"mininet"}


@each_module
def test_nobody_imports_the_guest(module: Module) -> None:
    """The border between host and lab is the Plan, not a function call."""
    if module.part != "guest":
        assert not {name for name in module.imports if name.startswith("wirelab.guest")}


@each_module
def test_an_import_has_no_effects(module: Module) -> None:
    """A module defines; it runs nothing, opens nothing and changes nothing when it is imported."""
    definitions = (
        ast.Import,
        ast.ImportFrom,
        ast.Assign,
        ast.AnnAssign,
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
    )
    for node in module.tree.body:
        if isinstance(node, ast.Expr):
            assert isinstance(node.value, ast.Constant) or _on_own_object(node.value), f"line {node.lineno}"
        elif isinstance(node, ast.If):
            assert ast.unparse(node.test) in ("TYPE_CHECKING", "__name__ == '__main__'"), (
                f"line {node.lineno}"
            )
        else:
            assert isinstance(node, definitions), f"line {node.lineno}"


def _on_own_object(call: ast.expr) -> bool:
    """Whether it is ``app.add_typer(...)`` or ``app.command(...)(...)``: a module may finish what it has."""
    asked = call.func if isinstance(call, ast.Call) and isinstance(call.func, ast.Call) else call
    return (
        isinstance(asked, ast.Call)
        and isinstance(asked.func, ast.Attribute)
        and isinstance(asked.func.value, ast.Name)
        and asked.func.value.id == "app"
    )
