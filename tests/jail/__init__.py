"""What is tried in order to break out of a lab: by its root, its first process, its kernel."""
