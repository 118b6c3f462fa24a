"""The exercises, done by students of whom it is known what they know."""
