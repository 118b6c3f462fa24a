"""``wirelab serve``: a class in a browser."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from wirelab.cli import options
from wirelab.cli.names import usable_cpus
from wirelab.errors import InputError, LabError
from wirelab.lab.first_use import select_or_take
from wirelab.report.text import warn

if TYPE_CHECKING:
    from wirelab.serve.room import DataFolder

_NEEDED: Final = ("starlette", "uvicorn", "itsdangerous", "websockets")


def serve_command(  # noqa: PLR0913 - the options of a command line
    *,
    host: Annotated[
        str,
        typer.Option(
            envvar="WIRELAB_HOST", help="The address to listen at; 0.0.0.0 is every one of this machine."
        ),
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="The port.")] = 8080,
    data: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the class is kept: its people, answers and results.")
    ] = Path("class"),
    tls_cert: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A certificate with its chain: then it speaks HTTPS.")
    ] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="The key of the certificate.")] = None,
    root_path: Annotated[
        str, typer.Option(metavar="/PATH", help="The path that a proxy in front has it below.")
    ] = "",
    password_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Set the teacher's password to the first line of this file."),
    ] = None,
    shells: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="The most networks whose clock students have stopped at once; each holds the memory of a"
            " lab. [default: as many as labs]",
        ),
    ] = None,
    jobs: options.Jobs = None,
    kernel: options.Kernel = None,
    root: options.Root = None,
) -> None:
    """Serve a class in a browser: exercises, a bench to try things on, and the teacher's pages.

    At its first start it prints a link by which the teacher's password is set. Ctrl-C ends it; what was
    under way goes on when it is started again.
    """
    _require_extra()
    # Only this command needs them, and they need not be installed.
    from wirelab.serve.room import DataFolder  # noqa: PLC0415
    from wirelab.serve.server import Address, Labs, classroom_with_lab, serve  # noqa: PLC0415

    address = Address(host, port, root_path.rstrip("/"), tls_cert, tls_key)
    cpus = usable_cpus(None, jobs)
    folder = DataFolder.made(data)
    with folder.only_one():
        if password_file is not None:
            _set_password(folder, password_file)
        lab = select_or_take(kernel, root, say=options.tell)
        with lab.in_use(), address.listening() as listening:
            labs = Labs(lab, cpus, len(cpus) if shells is None else shells)
            room = classroom_with_lab(folder, address, labs, warn)
            options.tell(f"wirelab serves at {address.url} (Ctrl-C ends it)")
            if room.set_up_key is not None:
                options.tell(f"set the teacher's password: {address.url}set-up/{room.set_up_key}")
            serve(room, address, listening)


def _set_password(folder: "DataFolder", file: Path) -> None:
    from wirelab.serve.password import LEAST_LETTERS, MOST_BYTES  # noqa: PLC0415
    from wirelab.serve.room import set_password  # noqa: PLC0415

    try:
        password = file.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(file)) from error
    if len(password) < LEAST_LETTERS or len(password.encode()) > MOST_BYTES:
        message = f"its first line is no password: expected {LEAST_LETTERS} letters or more"
        raise InputError(message, file=str(file))
    database = folder.database()
    set_password(database, password)
    database.close()


def _require_extra() -> None:
    lacking = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if lacking:
        raise LabError(
            f"wirelab serve needs {', '.join(lacking)}, which is not installed",
            hint="pipx install 'wirelab[serve]', or pip install 'wirelab[serve]'",
        )
