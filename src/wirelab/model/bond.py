"""Bond: ports of a host, or of a switch, that are one to all above them."""

import re
from typing import Final, Literal

from wirelab.model.types import Milliseconds, Model, Text, key, optional

BondMode = Literal["active-backup", "802.3ad"]
HashPolicy = Literal["layer2", "layer2+3", "layer3+4"]
LacpRate = Literal["slow", "fast"]

LACP: Final[BondMode] = "802.3ad"
USUAL_HASH: Final[HashPolicy] = "layer2"
"""Linux's own."""

BOND_NAME: Final = re.compile(r"bond[0-9]{1,3}", re.ASCII)
FEWEST_PORTS: Final = 2


class Bond(Model):
    """Ports of one node under one address: Linux's bonding."""

    ports: tuple[Text, ...] = key(
        "Its ports, as `[server.eth0, server.eth1]`; of a host that is all of its ports."
    )
    mode: BondMode = key(
        "`active-backup`: one port carries, another takes over. `802.3ad`: all carry, as LACP has agreed on."
    )
    miimon_ms: Milliseconds = key(
        "How often it looks whether its ports have a link; with 0, Linux's own default, it never does.",
        alias="miimon",
    )
    xmit_hash_policy: HashPolicy | None = optional(
        "What of a frame tells by which port it leaves (`802.3ad`): `layer2` if nobody says."
    )
