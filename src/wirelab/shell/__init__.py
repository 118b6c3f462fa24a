"""A network whose clock can be stopped: what is said at its prompt, and what it answers, as text."""
