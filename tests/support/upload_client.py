"""Files sent to the upload endpoint of a running app, as a browser sends them."""

import contextlib
import http.client
import re
import secrets
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
SECONDS = 300.0


def request(
    url: str, method: str, path: str, data: bytes = b"", headers: Mapping[str, str] = {}
) -> tuple[int, str]:
    """Return the status and body of an app's answer."""
    asked = urllib.request.Request(f"{url}{path}", data or None, {**headers}, method=method)
    for _ in range(10):
        try:
            with _direct.open(asked, timeout=SECONDS) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except (urllib.error.URLError, ConnectionError) as error:
            # A server that refuses by the headers closes on a body that is still coming, and the
            # answer may be lost with the connection.
            if not isinstance(getattr(error, "reason", error), ConnectionError):
                raise
    raise AssertionError(f"{method} {path} was never answered")


class UploadClient:
    """Sends files to the app at an address, each under the id that its session gives it."""

    def __init__(self, url: str) -> None:
        self.url = url
        with _direct.open(f"{url}/_stcore/health", timeout=SECONDS) as answer:
            cookies = " ".join(answer.headers.get_all("set-cookie", []))
        token = re.search(r"_streamlit_xsrf=([^;]+)", cookies)
        self._token = token[1] if token else ""

    def send(
        self, session: str, file: str, content: bytes, *, file_name: str = "a.zip", **headers: str
    ) -> tuple[int, str]:
        """Return the status and body of the answer to an upload in Streamlit's session of this id.

        `file` is the file's id, `file_name` as the visitor calls it; `headers` are more than the
        usual ones.
        """
        part = secrets.token_hex(8)
        body = (
            f"--{part}\r\n"
            f'Content-Disposition: form-data; name="file"; filename="{file_name}"\r\n'
            "Content-Type: application/zip\r\n\r\n"
        ).encode() + content
        body += f"\r\n--{part}--\r\n".encode()
        usual = {
            "Content-Type": f"multipart/form-data; boundary={part}",
            "X-Xsrftoken": self._token,
            "Cookie": f"_streamlit_xsrf={self._token}" if self._token else "",
        }
        path = f"/_stcore/upload_file/{session}/{file}"
        return _put(self.url, path, body, {**usual, **headers})


def _put(url: str, path: str, body: bytes, headers: Mapping[str, str]) -> tuple[int, str]:
    """Send a body if the server asks for it after the headers; return its status and answer.

    A server that refuses by the headers closes on a body that is still coming, and its answer would
    be lost with the connection.
    """
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=SECONDS)
    with contextlib.closing(connection):
        connection.putrequest("PUT", path)
        for name, value in {"Content-Length": len(body), **headers}.items():
            connection.putheader(name, str(value))
        connection.putheader("Expect", "100-continue")
        connection.endheaders()
        if connection.sock.recv(12, socket.MSG_PEEK) == b"HTTP/1.1 100":
            connection.send(body)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(errors="replace")
