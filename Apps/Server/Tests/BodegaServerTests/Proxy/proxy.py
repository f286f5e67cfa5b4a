"""A proxy before an HTTP server that delays, loses, doubles and cuts what passes through it.

Usage: proxy.py SERVER_PORT SEED

It prints its port, and ends when its standard input does. Then it prints how often it has done what, as JSON.
"""

import asyncio
import collections
import json
import random
import sys

server_port, seed = int(sys.argv[1]), sys.argv[2]
chance = random.Random(seed)
counts = collections.Counter()

FAULTS = ["pass", "delay", "refuse", "lose", "cut", "double"]
WEIGHTS = [60, 8, 8, 8, 8, 8]


async def exchange(request, receive):
    """Sends a request to the server, and passes on the parts of its response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server_port)
    try:
        writer.write(request)
        await writer.drain()
        while part := await reader.read(1 << 16):
            await receive(part)
    finally:
        writer.close()


async def read_request(reader, writer):
    """Reads a request whose body has a length, and asks that its response ends its connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    lines = head[:-4].split(b"\r\n")
    fields = [line.split(b":", 1) for line in lines[1:]]
    values = {name.strip().lower(): value.strip() for name, value in fields}
    if values.get(b"expect", b"").lower() == b"100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await reader.readexactly(int(values.get(b"content-length", b"0")))
    kept = [line for line in lines if line.split(b":", 1)[0].lower() not in (b"connection", b"expect")]
    return b"\r\n".join(kept + [b"Connection: close", b"", b""]) + body


async def serve(reader, writer):
    try:
        request = await read_request(reader, writer)
        fault = chance.choices(FAULTS, WEIGHTS)[0]
        counts[fault] += 1
        rest = chance.randrange(400) if fault == "cut" else None

        async def drop(part):
            pass

        async def send(part):
            nonlocal rest
            if rest is not None:
                part, rest = part[:rest], max(0, rest - len(part))
            writer.write(part)
            await writer.drain()
            if rest == 0:
                raise ConnectionError("cut")

        if fault == "delay":
            await asyncio.sleep(chance.random() * 0.05)
        if fault in ("lose", "double"):
            # Events have no end, so they are not awaited.
            if b"/events" not in request.split(b"\r\n", 1)[0]:
                await exchange(request, drop)
        if fault not in ("refuse", "lose"):
            await exchange(request, send)
    except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError):
        pass
    finally:
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    print(json.dumps(counts), flush=True)


asyncio.run(main())
