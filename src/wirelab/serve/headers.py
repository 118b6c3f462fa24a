"""What every answer says to the browser: nothing from elsewhere, nothing inline, no frame, no guess."""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self';"
    " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_ALWAYS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_UNLESS_SAID: Final = {"Content-Security-Policy": PAGE_POLICY, "Cache-Control": "no-store"}


class SecurityHeaders:
    """ASGI middleware that adds them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, with the headers."""

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers[name] = value
                for name, value in _UNLESS_SAID.items():
                    headers.setdefault(name, value)
                # Behind a proxy the requests tell whether it speaks TLS.
                if scope["scheme"] == "https" and "set-cookie" in headers:
                    headers["set-cookie"] += "; secure"
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)


class BelowPath:
    """ASGI middleware: all of it below ``root``, whether a proxy in front takes that away or not."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as if it were called by its whole path."""
        if scope["type"] in ("http", "websocket"):
            path = scope["path"]
            is_whole = path == self._root or path.startswith(f"{self._root}/")
            scope = {**scope, "root_path": self._root, "path": path if is_whole else self._root + path}
        await self._app(scope, receive, send)
