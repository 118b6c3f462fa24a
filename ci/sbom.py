"""What a release is made of, as a CycloneDX document: the packages of the lab, and what pip adds."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from wirelab import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wirelab.lab.archive import About


def document(about: About, requires: Iterable[str]) -> str:
    """The document, of a lab and of the requirements in wirelab's metadata; the same bytes for the same."""
    parts = [_kernel(about.kernel.facts.model_dump())]
    distro = about.debian.facts.suite
    parts += [_debian(name, version, distro) for name, version in sorted(about.debian.facts.packages.items())]
    pip = [_python(line) for line in sorted(requires) if "extra ==" not in line]
    lab = _ours("operating-system", "wirelab-lab", "GPL-2.0-only AND LicenseRef-Debian")
    own = _ours("application", "wirelab", "Apache-2.0 AND GPL-2.0-only")
    whole = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own},
        "components": [lab, *parts, *pip],
        "dependencies": [
            {"ref": "wirelab", "dependsOn": ["wirelab-lab", *(part["bom-ref"] for part in pip)]},
            {"ref": "wirelab-lab", "dependsOn": [part["bom-ref"] for part in parts]},
        ],
    }
    return json.dumps(whole, indent=1) + "\n"


def _ours(kind: str, name: str, licence: str) -> dict[str, object]:
    """What we publish in this version."""
    return {
        "type": kind,
        "bom-ref": name,
        "name": name,
        "version": __version__,
        "purl": f"pkg:pypi/{name}@{__version__}",
        "licenses": [{"expression": licence}],
    }


def _kernel(facts: dict[str, Any]) -> dict[str, Any]:
    name, version = facts.get("package", "linux"), facts.get("version", facts["title"])
    purl = f"pkg:deb/debian/{name}@{_encoded(version)}?arch=source"
    licences = [{"license": {"id": "GPL-2.0-only"}}]
    properties = [{"name": "wirelab:compiler", "value": str(facts.get("compiler", ""))}]
    return {
        "type": "operating-system",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": licences,
        "properties": properties,
    }


def _debian(name: str, version: str, distro: str) -> dict[str, Any]:
    purl = f"pkg:deb/debian/{_encoded(name)}@{_encoded(version)}?distro={distro}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _python(requirement: str) -> dict[str, Any]:
    """A package that pip chooses the version of; what may be chosen is a property."""
    (name,) = re.findall(r"^[\w.-]+", requirement)
    purl = f"pkg:pypi/{name.casefold().replace('_', '-')}"
    wanted = [{"name": "wirelab:requirement", "value": requirement}]
    return {"type": "library", "bom-ref": purl, "name": name, "purl": purl, "properties": wanted}


def _encoded(text: str) -> str:
    return quote(text, safe=".-_~")
