"""Tests of the playbooks, with hosts that are namespaces of this machine."""
