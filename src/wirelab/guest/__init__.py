"""What runs inside the lab: standard library and Mininet, on the root image's own Python."""
