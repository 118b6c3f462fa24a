"""The teacher's password, of which only a salted scrypt hash is kept."""

import hashlib
import hmac
from typing import Final

LEAST_LETTERS: Final = 10
MOST_BYTES: Final = 1024
SALT_BYTES: Final = 16

# 32 MiB and a tenth of a second: as OWASP's cheat sheet on password storage advises for scrypt.
_N: Final = 1 << 15
_R: Final = 8
_P: Final = 3
_MEMORY_BYTES: Final = 128 << 20


def hashed(password: str, salt: bytes) -> str:
    """What is kept of a password; ``salt`` is SALT_BYTES random bytes."""
    digest = hashlib.scrypt(password.encode(), salt=salt, n=_N, r=_R, p=_P, maxmem=_MEMORY_BYTES)
    return f"scrypt${_N}${_R}${_P}${salt.hex()}${digest.hex()}"


def is_right(password: str, kept: str) -> bool:
    """Whether this is the password that ``kept`` was made from."""
    if len(password.encode()) > MOST_BYTES:
        return False
    _, n, r, p, salt, digest = kept.split("$")
    tried = hashlib.scrypt(
        password.encode(), salt=bytes.fromhex(salt), n=int(n), r=int(r), p=int(p), maxmem=_MEMORY_BYTES
    )
    return hmac.compare_digest(tried.hex(), digest)
