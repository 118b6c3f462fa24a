"""YAML in, checked and frozen objects out. No input or output but reading the files."""
