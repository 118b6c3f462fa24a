"""The lab machine: its kernel, its root image, and booting it."""
