"""A property that is worked out once for each object.

``functools.cached_property`` does that too, but in Python 3.11 holds one lock for all objects of a class
meanwhile: each page would wait for every other one's look into the database.
"""

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

Value = TypeVar("Value")


class Once(Generic[Value]):
    """Decorates a method; two threads that ask the same object for the first time may both work it out."""

    def __init__(self, work_out: Callable[[Any], Value]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...

    @overload
    def __get__(self, owner: object, kind: type) -> Value: ...

    def __get__(self, owner: object | None, kind: type) -> Self | Value:
        """The value, which stands in the object from now on and is found there before this is asked."""
        if owner is None:
            return self
        value = self._work_out(owner)
        owner.__dict__[self._name] = value
        return value
