"""Tests of wirelab as it is installed: on other systems, and on another processor."""
