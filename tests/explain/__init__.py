"""What helps most is what a control does: `make test-explain`, hundreds of labs."""
