"""JSON Schemas of the YAML files, for editors that complete and check while one types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from wirelab.model.parts import PartsFile
from wirelab.model.scenario import Scenario
from wirelab.model.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wirelab.model.types import Model

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
MODELS: Final[Mapping[str, type[Model]]] = {"scenario": Scenario, "topology": Topology, "parts": PartsFile}


def schema(kind: str) -> dict[str, Any]:
    """The schema of a ``scenario``, a ``topology`` or a file of ``parts``. Raises KeyError for others."""
    return {"$schema": DIALECT, **MODELS[kind].model_json_schema(by_alias=True)}
