"""Scripts that others wrote, run as they are: each in a lab of its own, by `wirelab exec`."""
