"""Headers that tell a browser what the pages of a server may do."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' {sockets}",
    "worker-src": "'self' blob:",
    "frame-src": "'self'",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'self'",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class SecurityHeaders:
    """ASGI middleware that adds these headers to every response; it comes after `Door`."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        forwarded = ",".join(headers.getlist("x-forwarded-host")).split(",")
        policy = content_policy(headers.get("host", ""), *filter(None, map(str.strip, forwarded)))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers["Content-Security-Policy"] = policy
            await send(message)

        await self.app(scope, receive, send_with_headers)


def content_policy(*hosts: str) -> str:
    """Return the Content-Security-Policy for the Host headers that `Door` let in.

    The websocket's address is written out: not every browser counts it as 'self'.
    """
    sockets = " ".join(f"ws://{host} wss://{host}" for host in hosts)
    return "; ".join(f"{name} {value.format(sockets=sockets)}" for name, value in POLICY.items())
