"""What MkDocs asks for while it builds the site: the pages that nobody writes, and a look at the result.

Documents of the project are taken where they are, under their own names, so that links between them hold
in both places.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

from docs import catalogue, exercises, notebooks, peers, reference, truth
from docs.commands import ROOT
from docs.offline import dead_links, loaded_from_elsewhere
from wirelab.report.html import filled_in
from wirelab.report.script import Script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

DOCUMENTS: Final = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "ci/README.md",
    "kernel/README.md",
    "kernel/driver/README.md",
    "playbooks/README.md",
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put a page for each scenario below the catalogue's index, and those of each exercise below theirs."""
    index = "catalogue/index.md"
    pages: list[object] = [{"Overview": index}, *(f"catalogue/{name}.md" for name in catalogue.names())]
    tasks: list[object] = [
        {"Overview": "exercises/index.md"},
        *(name for name, _ in exercises.pages() if name != "exercises/index.md"),
    ]
    made = {"Catalogue": (index, pages), "Exercises": ("exercises/index.md", tasks)}
    config.nav = [_with_pages(item, made) for item in config.nav or ()]
    return config


def _with_pages(item: object, made: Mapping[str, tuple[str, list[object]]]) -> object:
    """An item of the navigation; where it is only an index, with the pages below it."""
    for title, (index, pages) in made.items():
        if item == {title: index}:
            return {title: pages}
    return item


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the documents of the project, the reference and the catalogue."""
    for name in DOCUMENTS:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    for name, text in (
        *reference.pages(),
        *notebooks.pages(),
        *catalogue.pages(),
        *exercises.pages(),
        truth.page(),
        peers.page(),
    ):
        files.append(File.generated(config, name, content=text))
    files.append(File.generated(config, "assets/page.js", content=Script.load().text))
    files.append(File.generated(config, "assets/plots.css", content=filled_in("plots.css.j2")))
    for name, text in catalogue.reports():
        files.append(File.generated(config, name, content=text))
    return files


def on_post_build(config: MkDocsConfig) -> None:
    """Refuse a site that would load something from elsewhere, or that leads to a file that it has not."""
    site = Path(config.site_dir)
    if problems := list(loaded_from_elsewhere(site)):
        raise PluginError("the site loads from elsewhere:\n" + "\n".join(problems))
    if problems := list(dead_links(site)):
        raise PluginError("the site leads to what is not there:\n" + "\n".join(problems))
