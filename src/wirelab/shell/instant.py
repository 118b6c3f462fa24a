"""Instants and lengths of time, as the prompt shows and reads them."""

from wirelab.errors import InputError
from wirelab.units import NS_PER_MS, TIME, UnitError, parse


def shown(at_ns: int) -> str:
    """An instant to the nanosecond, in milliseconds: how it compares with others is what matters."""
    whole, rest = divmod(abs(at_ns), NS_PER_MS)
    return f"{'-' if at_ns < 0 else ''}{whole}.{rest:06d} ms"


def read_ns(text: str) -> int:
    """A length of time such as ``10 ms``, more than none. Raises InputError."""
    try:
        length_ns = parse(text.strip(), TIME)
    except UnitError as error:
        raise InputError(str(error)) from error
    if length_ns == 0:
        raise InputError("no time passes in `0`; write for example `10 ms`")
    return length_ns
