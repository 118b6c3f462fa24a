"""Tests of the container image, on a real engine."""
