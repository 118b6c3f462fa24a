"""What is run, how many at once, what is kept and remembered."""
