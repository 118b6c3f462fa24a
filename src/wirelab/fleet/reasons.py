"""Why a machine cannot be reached, and what helps: what ssh says of it in one line a person can act on."""

from typing import Final

_FIXES: Final = (
    ("Could not resolve hostname", "correct ansible_host in the inventory"),
    ("Host key verification failed", "`ssh {host}` once, and see that its key is the right one"),
    ("REMOTE HOST IDENTIFICATION HAS CHANGED", "was it installed anew? then `ssh-keygen -R {host}`"),
    ("Permission denied", "`ssh-copy-id {host}`, or correct ansible_user in the inventory"),
    ("Connection refused", "is its ssh server running? `sudo apt-get install openssh-server` there"),
    ("not responding", "is its cable in, is it on?"),
    ("No route to host", "is its cable in, is it on?"),
    # What is left to say to all but the first of several sessions on one connection.
    ("Shared connection to", "is its cable in, is it on?"),
    ("Broken pipe", "is its cable in, is it on?"),
    ("closed by remote host", "was it switched off?"),
    ("Connection reset", "was it switched off?"),
    ("timed out", "is it on, is ansible_host right, does a firewall let ssh through?"),
    ("No such file or directory", "run provision.yml"),
    ("not found", "run provision.yml"),
)
_PREFIX: Final = "via ssh:"
_SILENT: Final = "it does not answer any more: is its cable in, is it on?"


def explained(complaint: str, host: str) -> str:
    """What ``complaint`` means for ``host``, an address that ssh knows, with the fix."""
    before, prefix, after = complaint.partition(_PREFIX)
    lines = [line.strip() for line in (after if prefix else before).splitlines()]
    said = [line for line in lines if line and not line.startswith(("@", "Warning: Permanently added"))]
    for words, fix in _FIXES:
        for line in said:
            if words in line:
                return f"{line.rstrip('.')}: {fix.format(host=host)}"
    # Nothing is what ssh says when a connection breaks that several sessions share.
    return f"{said[-1]}: `ssh {host}` may say more" if said else _SILENT
