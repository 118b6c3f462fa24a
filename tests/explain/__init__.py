"""What helps is what the catalogue's own controls say: `make test-explain`, hundreds of labs."""
