"""Talk between a page of ours and the server, over a WebSocket: JSON texts of limited size."""

import asyncio
import json
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.websockets import WebSocket, WebSocketDisconnect

from wirelab.results.values import printable
from wirelab.serve.shell import COMMAND_LETTERS, COMMAND_S, IDLE_S, LINE_LETTERS, Message
from wirelab.serve.words import Words

MOST_BYTES: Final = 16 << 10
"""Of what a page says at once; what is larger closes the connection."""
AHEAD: Final = 200
"""What waits to be sent to a page that is slow; then the lab waits, too."""
REFUSED: Final = 1008
"""The code of WebSockets for what is against the rules of a server."""

_FIGURES: Final[Mapping[str, object]] = {
    "minutes": f"{IDLE_S / 60:.0f}",
    "seconds": f"{COMMAND_S:.0f}",
    "letters": COMMAND_LETTERS,
}


class BadMessageError(Exception):
    """A page has said something that no page of ours says."""


class Talk:
    """What threads tell a page: in their order, and not more than it takes."""

    def __init__(self, loop: asyncio.AbstractEventLoop, words: Words) -> None:
        self._loop = loop
        self._words = words
        self._waiting: asyncio.Queue[Message] = asyncio.Queue()
        self._room = threading.BoundedSemaphore(AHEAD)
        self._is_over = False

    def tell(self, message: Message, seconds: float) -> bool:
        """Tell the page something; False if there was no room for it in so many seconds."""
        if self._is_over:
            return True
        if not self._room.acquire(timeout=seconds):
            return False
        # The server's loop may have ended before a thread of it has.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._waiting.put_nowait, message)
        return True

    async def send_to(self, socket: WebSocket) -> None:
        """Send all of it, until what is told is that it has ended."""
        while True:
            message = await self._waiting.get()
            self._room.release()
            await socket.send_text(json.dumps(self._in_words(message)))
            if "ended" in message:
                return

    def close(self) -> None:
        """Nobody hears anything any more."""
        self._is_over = True

    def _in_words(self, message: Message) -> Message:
        said = dict(message)
        for name in ("ended", "note"):
            if name in said:
                said[name] = self._words(said[name], **{**_FIGURES, "message": said.pop("message", "")})
        if "refused" in said:
            said["refused"] = [self._text(text) for text in said["refused"]]
        return said

    def _text(self, text: str) -> str:
        return self._words(text) if text in self._words else printable(text)


def is_ours(socket: WebSocket) -> bool:
    """Whether a page of this server asks: a browser tells whose page it is that opens a socket.

    Any page may open one, and where it is of the same site it comes with our cookie.
    """
    origin = urlsplit(socket.headers.get("origin", "")).netloc.lower()
    return bool(origin) and origin == socket.headers.get("host", "").lower()


async def heard(socket: WebSocket) -> dict[str, Any]:
    """What the page says next. Raises BadMessageError, and WebSocketDisconnect where it has gone."""
    received = await socket.receive()
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received["code"])
    text = received.get("text")
    if text is None or len(text) > MOST_BYTES:
        raise BadMessageError
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        raise BadMessageError from None
    if not isinstance(said, dict) or not all(map(_is_sound, said.items())):
        raise BadMessageError
    return said


def _is_sound(item: tuple[str, object]) -> bool:
    name, value = item
    match name, value:
        case (("line" | "complete" | "open"), str()):
            return len(value) <= LINE_LETTERS
        case "columns", int():
            return 20 <= value <= 400  # noqa: PLR2004 - what a screen has
        case "stop", True:
            return True
    return False
