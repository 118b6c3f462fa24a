"""Tests in a real lab."""
