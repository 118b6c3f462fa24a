"""The lab of wirelab, built: a kernel and a root image in one archive, which it takes at its first run.

Nothing of it is imported by anybody; NOTICE says whose work it is, SOURCES what it was made of.
"""

__version__ = "0.1.0"
