"""Figures to verdicts: checks, laws and explanations. Pure functions."""
