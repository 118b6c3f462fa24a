"""What helps most is what the catalogue shows: `make test-explain`, hundreds of labs."""
