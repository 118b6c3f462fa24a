"""A class in a browser: students, a teacher, and one queue of runs."""
