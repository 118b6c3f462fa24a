"""What messages say of a value that stands where another one is expected."""

from typing import Final

_MOST_LETTERS: Final = 60


def expected(words: str, value: object) -> ValueError:
    """What pydantic collects, unlike a TypeError."""
    return ValueError(f"expected {words}, found {kind_of(value)}")


def kind_of(value: object) -> str:
    """What ``value`` is in words of YAML; of a long text its beginning."""
    text = str(value)
    shown = text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."
    return {dict: "keys", list: "a list", type(None): "nothing"}.get(type(value), f"`{shown}`")
