"""A function in a process of its own, which shares nothing with the one that asks for it."""

from __future__ import annotations

import multiprocessing
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

LIMIT_S: Final = 300
# No fork of this process: it has threads, and a lock that one of them holds stays locked in a fork.
CONTEXT: Final = multiprocessing.get_context("forkserver")


def apart(function: Callable[..., Any], *arguments: object) -> Any:  # noqa: ANN401 - what the function returns
    """What ``function`` returns there; it, its arguments and its answer are pickled.

    Raises RuntimeError if it raised, which standard error tells, or took too long.
    """
    receiver, sender = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=_answer, args=(sender, function, arguments))
    process.start()
    sender.close()
    try:
        if not receiver.poll(LIMIT_S):
            msg = f"{function.__name__} was not done after {LIMIT_S} s"
            raise RuntimeError(msg)
        return receiver.recv()
    except EOFError:
        process.join()
        msg = f"{function.__name__} ended with exit code {process.exitcode} and without an answer"
        raise RuntimeError(msg) from None
    finally:
        process.kill()
        process.join()


def _answer(answer: Connection, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    answer.send(function(*arguments))
    answer.close()
