"""``wirelab doctor``: what this machine lacks."""

from typing import Annotated

import typer

from wirelab.errors import LabError
from wirelab.lab.doctor import examine


def doctor_command(
    *,
    verify: Annotated[
        bool, typer.Option("--verify", help="Read all of the kernel and root image: were they changed?")
    ] = False,
) -> None:
    """Tell what this machine lacks to build and run labs, and the line that helps."""
    findings = examine(verify=verify)
    for finding in findings:
        typer.echo(f"{'ok' if finding.ok else 'MISSING':8}{finding.name}: {finding.detail}")
        if finding.fix:
            typer.echo(f"{'':8}{finding.fix}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(LabError.exit_code)
