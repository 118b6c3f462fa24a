"""What parts of a file must hold together."""
