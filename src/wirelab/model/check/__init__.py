"""Checks of what is valid field by field and wrong as a whole."""

Blame = tuple[str, tuple[str, ...]]
"""What is wrong with a port, and the names of the settings that may be to blame."""
