"""A proxy before an HTTP server that delays, loses, doubles and cuts what passes through it, and partitions clients.

Usage: proxy.py SERVER_PORT SEED [CLIENTS]

It prints its ports, one for each client, and ends when its standard input does. Then it prints how often it has done
what, as JSON. It obeys lines of its standard input:

    cut N in|out|both   holds back what goes to client N, or comes from it, as a network that repeats lost packets
    heal N              passes on what was held back, and holds back no more
    calm                does nothing else to what passes through it from now on
"""

import asyncio
import collections
import json
import random
import sys

server_port, seed = int(sys.argv[1]), sys.argv[2]
clients = int(sys.argv[3]) if len(sys.argv) > 3 else 1
chance = random.Random(seed)
counts = collections.Counter()

FAULTS = ["pass", "delay", "refuse", "lose", "cut", "double"]
WEIGHTS = [60, 8, 8, 8, 8, 8]
is_calm = False


class Link:
    """The way of one client to the server and back."""

    def __init__(self):
        self.ways = {"in": asyncio.Event(), "out": asyncio.Event()}
        self.heal()

    def cut(self, direction):
        for way in self.ways if direction == "both" else [direction]:
            self.ways[way].clear()
        counts["partition " + direction] += 1

    def heal(self):
        for way in self.ways.values():
            way.set()

    async def pass_on(self, way):
        await self.ways[way].wait()


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


async def serve(link, reader, writer):
    try:
        request = await read_request(reader, writer)
        fault = "pass" if is_calm else chance.choices(FAULTS, WEIGHTS)[0]
        counts[fault] += 1
        rest = chance.randrange(400) if fault == "cut" else None

        async def drop(part):
            pass

        async def send(part):
            nonlocal rest
            if rest is not None:
                part, rest = part[:rest], max(0, rest - len(part))
            await link.pass_on("in")
            writer.write(part)
            await writer.drain()
            if rest == 0:
                raise ConnectionError("cut")

        # Also of a client that has given up: what it has sent arrives later.
        await link.pass_on("out")
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


async def obey(links):
    """Carries out commands, to the end of the standard input."""
    global is_calm
    while line := await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline):
        match line.split():
            case ["cut", number, ("in" | "out" | "both") as direction]:
                links[int(number)].cut(direction)
            case ["heal", number]:
                links[int(number)].heal()
            case ["calm"]:
                is_calm = True


async def main():
    links = [Link() for _ in range(clients)]
    servers = [
        await asyncio.start_server(lambda reader, writer, link=link: serve(link, reader, writer), "127.0.0.1", 0)
        for link in links
    ]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    await obey(links)
    print(json.dumps(counts), flush=True)


asyncio.run(main())
