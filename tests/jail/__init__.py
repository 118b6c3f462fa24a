"""What is tried in order to break out of a lab, from three places: its root, its first process, its kernel."""
