"""Checks of what is valid field by field and wrong as a whole."""
