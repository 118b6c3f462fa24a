"""A network-emulation testbed in virtual time: scenario in, verdict with its proof out."""

__version__ = "0.1.0"
