"""What the documents say was measured is what is measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from docs.commands import COMMANDS, LAB, masked

if TYPE_CHECKING:
    from docs.commands import Command


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if command.needs_lab], ids=lambda command: command.name
)
@pytest.mark.usefixtures("lab")
def test_an_output_is_what_the_command_prints(command: Command) -> None:
    """Every figure and digest in a page, as the lab gives them today; `make docs` prints them anew.

    With another kernel or other tools the figures may be others. Those of the documents are then not of this
    lab.
    """
    if masked(LAB.run()) != LAB.stored():
        pytest.skip(f"the documents show another lab than this one: {LAB.stored()}")
    assert masked(command.run()) == masked(command.stored())
