"""A container engine: the one that answers, or one of the tests' own that is gone when they end."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

# By what each can do without: overlay2 needs a disk that is no overlay itself, vfs needs nothing but room.
STORAGE_DRIVERS = ("overlay2", "fuse-overlayfs", "vfs")
# Docker 20.10 writes it wherever the rest is; newer ones do not know it.
KEY = Path("/etc/docker/key.json")

# In a network of its own an engine has a bridge, where the host has what that takes; this is one without.
NO_BRIDGE = (
    "--bridge=none",
    "--iptables=false",
    "--ip6tables=false",
    "--ip-forward=false",
    "--ip-masq=false",
)

_START_S = 60
_STOP_S = 30
_COMMAND_S = 600
_LOG_LINES = 5


class NoEngineError(Exception):
    """No engine can be had; the message says why."""


@dataclass(frozen=True)
class Engine:
    """Somebody who answers the docker command in the environment ``environ``."""

    environ: Mapping[str, str]
    command: str = "docker"
    has_bridge: bool = True
    process: int | None = None
    """That of an engine with a network of its own, None for one that has the host's."""

    def within(self, *argv: str) -> list[str]:
        """A command as it is run in the network where the engine publishes ports."""
        return [*(["nsenter", f"--net=/proc/{self.process}/ns/net"] if self.process else []), *argv]

    def docker(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """What the docker command answers. Where it must succeed, its complaint is the failure's text."""
        done = subprocess.run(
            [self.command, *argv],
            env=dict(self.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_COMMAND_S,
        )
        assert not check or done.returncode == 0, f"docker {' '.join(argv)}\n{done.stdout}{done.stderr}"
        return done

    def answers(self) -> bool:
        """Whether it is there."""
        return self.docker("version", "--format", "{{.Server.Version}}", check=False).returncode == 0


@contextlib.contextmanager
def any_engine() -> Iterator[Engine]:
    """The engine of this machine if it answers this user, else one started here. Raises NoEngineError."""
    if shutil.which("docker") is None:
        msg = "there is no docker command"
        raise NoEngineError(msg)
    present = Engine(os.environ)
    if present.answers():
        yield present
        return
    if os.geteuid() != 0:
        msg = "no engine answers this user, and only root can start one"
        raise NoEngineError(msg)
    if shutil.which("dockerd") is None:
        msg = "no engine answers, and there is no dockerd"
        raise NoEngineError(msg)
    refused = []
    for network, driver in itertools.product(((), NO_BRIDGE), STORAGE_DRIVERS):
        with _home() as home:
            process = _start(home, [*network, f"--storage-driver={driver}"])
            try:
                environ = {**os.environ, "DOCKER_HOST": f"unix://{home}/socket"}
                engine = Engine(environ, has_bridge=not network, process=process.pid)
                if _came_up(process, engine):
                    subprocess.run(engine.within("ip", "link", "set", "lo", "up"), check=True)
                    yield engine
                    return
                refused.append(f"{driver}: {_last_words(home)}")
            finally:
                _stop(process, home)
    raise NoEngineError("no engine can be started here; " + "; ".join(refused))


@contextlib.contextmanager
def _home() -> Iterator[Path]:
    # Not pytest's folder: the path of a socket has at most 107 bytes.
    folder = Path(tempfile.mkdtemp(prefix="wirelab-engine-"))
    had_key, had_folder = KEY.exists(), KEY.parent.exists()
    try:
        yield folder
    finally:
        if not had_key:
            KEY.unlink(missing_ok=True)
        if not had_folder:
            with contextlib.suppress(OSError):
                KEY.parent.rmdir()
        for mount in reversed(_mounts(folder)):
            subprocess.run(["umount", "--lazy", mount], check=False)
        shutil.rmtree(folder)


def _mounts(folder: Path) -> list[str]:
    lines = Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    return [target for line in lines if Path(target := line.split()[4]).is_relative_to(folder)]


def _start(home: Path, options: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start an engine that keeps all it has below ``home``, in a network of its own."""
    (home / "daemon.json").write_text("{}\n", encoding="utf-8")
    argv = ["unshare", "--net", "--"]
    argv += ["dockerd", f"--config-file={home}/daemon.json", f"--host=unix://{home}/socket"]
    argv += [f"--data-root={home}/data", f"--exec-root={home}/exec", f"--pidfile={home}/pid"]
    argv += options
    with (home / "log").open("wb") as log:
        return subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def _came_up(process: subprocess.Popen[bytes], engine: Engine) -> bool:
    deadline_s = time.monotonic() + _START_S
    while process.poll() is None and time.monotonic() < deadline_s:
        if engine.answers():
            return True
        time.sleep(0.2)
    return False


def _stop(process: subprocess.Popen[bytes], home: Path) -> None:
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_STOP_S)
        return
    # It takes its containerd along only when it ends by itself.
    process.kill()
    process.wait()
    with contextlib.suppress(OSError, ValueError):
        os.kill(int((home / "exec/containerd/containerd.pid").read_text()), signal.SIGKILL)


def _last_words(home: Path) -> str:
    """What the engine said at the end, without what differs each time."""
    lines = (home / "log").read_text(encoding="utf-8", errors="replace").splitlines()
    said = [re.sub(r'^time="[^"]*" level=\w+ msg=', "", line) for line in lines[-_LOG_LINES:]]
    return " | ".join(said) or "it said nothing"
