"""What a run looks like to those who asked for it."""
