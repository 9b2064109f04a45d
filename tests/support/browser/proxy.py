"""A small reverse proxy: it passes a server on under a prefix, as Jupyter's and nginx do."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress


@contextmanager
def reverse_proxy(
    port: int,
    prefix: str,
    *,
    strips: bool = True,
    host: str = "",
    headers: Mapping[str, str] = {},
    refuses: Mapping[str, int] = {},
) -> Iterator[str]:
    """Start a proxy of a port on a free one of localhost; yield its address with the prefix.

    A path without the prefix, such as "/user/ada/proxy/8501", is not found. The server gets it
    without that if `strips`, the Host header `host` ("": the browser's), and more `headers`.
    `refuses` has method -> status with which its requests are refused, as by a limit of size.
    """
    loop = asyncio.new_event_loop()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            method, path, version = head[0].split(" ")
            if not path.startswith(prefix) or method in refuses:
                status = refuses.get(method, 404)
                length = next(
                    (int(h.split(":")[1]) for h in head if h.lower().startswith("content-length")),
                    0,
                )
                await reader.readexactly(length)
                writer.write(f"HTTP/1.1 {status} No\r\nContent-Length: 2\r\n\r\nno".encode())
                writer.close()
                return
            path = (path.removeprefix(prefix) or "/") if strips else path
            kept = [line for line in head[1:] if line]
            if host:
                kept = [line for line in kept if not line.lower().startswith("host:")]
                kept.append(f"Host: {host}")
            if not any(line.lower().startswith("upgrade:") for line in kept):
                kept = [line for line in kept if not line.lower().startswith("connection:")]
                kept.append("Connection: close")  # so that each request is one connection
            kept += [f"{name}: {value}" for name, value in headers.items()]
            there, here = await asyncio.open_connection("localhost", port)
            here.write("\r\n".join([f"{method} {path} {version}", *kept, "", ""]).encode("latin-1"))
            await asyncio.gather(_pass_on(reader, here), _pass_on(there, writer))

    async def serve() -> asyncio.Server:
        return await asyncio.start_server(answer, "localhost", 0, limit=2**20)

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(serve(), loop).result()
    try:
        yield f"http://localhost:{server.sockets[0].getsockname()[1]}{prefix}"
    finally:
        asyncio.run_coroutine_threadsafe(_end(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()


async def _end(server: asyncio.Server) -> None:
    server.close()
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    with suppress(OSError):
        writer.close()
