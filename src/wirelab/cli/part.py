"""Commands that are a part of ``wirelab``: without what typer gives a whole program."""

import typer


def part(help_text: str | None = None) -> typer.Typer:
    """A command, or a group of them that tells ``help_text`` where it is called without one."""
    return typer.Typer(
        help=help_text,
        no_args_is_help=help_text is not None,
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )
