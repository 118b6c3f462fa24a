"""Raw files of a run to figures."""
