"""Settings at random, on a kernel that looks after itself: `make stress`."""
