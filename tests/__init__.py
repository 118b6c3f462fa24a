"""The tests of wirelab."""
