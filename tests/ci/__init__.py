"""Tests of the workflows, by doing what the runners of GitHub and GitLab would do with them."""
