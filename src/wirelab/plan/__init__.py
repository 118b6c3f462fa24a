"""The Plan: everything a testbed needs to know, in base units, and nothing else."""
