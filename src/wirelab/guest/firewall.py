"""What the rules of a firewall have blocked, as ``nft -j list ruleset`` tells it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wirelab.plan.types import Firewall

_COUNTED = " counter drop"
# add rule FAMILY TABLE CHAIN, and then what it matches.
_WORDS_BEFORE = 5


def blocked(firewall: Firewall, ruleset: str) -> dict[str, int]:
    """Frames that each rule which counts them has dropped, by what it matches, as the Plan has it.

    nft lists rules in the order in which they were added. Raises ValueError when they are not as many.
    """
    asked = [line for line in firewall.nft.splitlines() if line.startswith("add rule ")]
    listed = [entry["rule"]["expr"] for entry in json.loads(ruleset)["nftables"] if "rule" in entry]
    return {
        line.removesuffix(_COUNTED).split(maxsplit=_WORDS_BEFORE)[-1]: _packets(expressions)
        for line, expressions in zip(asked, listed, strict=True)
        if line.endswith(_COUNTED)
    }


def _packets(expressions: list[dict[str, dict[str, int]]]) -> int:
    return sum(expression["counter"]["packets"] for expression in expressions if "counter" in expression)
