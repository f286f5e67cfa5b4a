"""A JSON API for tests, on a free port of 127.0.0.1, and responses that no client should trust.

It prints its port, and ends when its standard input ends. The argument is the token that paths below /private require.

    /items/NAME, /private/NAME     a collection: GET, and GET, PUT, DELETE of NAME/ID
    /…?size=N                      pages of N objects, with the header Link
    /…?path=a.b                    the array under members
    /…?slash=1                     items whose addresses end with a slash
    /…?uuid=lower                  identifiers in lower case, in addresses and objects
    /…?refuse=PUT                  the status 422 for a method
    /…?portal=METHOD               a page of HTML with the status 200 for a method, in place of what it does
    /…?away=M&answer=ANSWER        while the mark is set, no answer but this one: a status, "empty" or "html"
    /…?unreadable=ID&answer=…      no answer but this one to a request for an item
    /…?tags=KIND                   entity tags of items: strong, weak, none, or ignored in conditions; or never, with
                                   which no condition of a change is met
    /…?form=KIND                   indented objects, indented more in the array; or an array of brief ones, which have
                                   the members id and a only
    /…?lose=after,before           the connection ends after a change of an item, or before it, for the first ones with
                                   a mark; with meddle=1, another writer changes the item then
    /fault/KIND                    a response with a fault
    /fault/raw?hex=…               a response as its bytes, after which the connection is closed
    /closing/NAME                  as /items, and the connection is closed when the next request has arrived on it
    /stream/KIND?mark=M            a body in chunks, of the class Stream; with gzip=1, compressed; with a status
    /mark/M, /unmark/M             sets a mark, or removes it
    /gate?mark=M                   lets a stream go on by one step
    /progress?mark=M               the state of a stream, as {sent, closed}
    /requests?containing=TEXT      the requests so far whose paths contain a text, as {method, path, headers}
"""

import json
import os
import socket
import sys
import threading
import zlib
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote_to_bytes, urlencode, urlsplit

token = sys.argv[1]
lock = threading.Lock()
collections = {}
requests = []
over = threading.Event()
streams = {}
losses = {}
marks = set()


def entity_tag(body):
    return '"%08x"' % zlib.crc32(body)


class Stream:
    """The state of a stream: how many bytes of its body were sent, and whether the client has closed the connection."""

    def __init__(self):
        self.sent = 0
        self.closed = False
        self.gate = threading.Semaphore(0)


def stream_state(mark):
    with lock:
        return streams.setdefault(mark, Stream())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    has_answered = False

    def log_message(self, *_):
        pass

    def respond(self, status, body=b"", **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_request(self):
        if self.path.startswith("/fault/sip"):
            return self.sip()
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query, keep_blank_values=True).items()}
        segments = url.path.split("/")[1:]
        if segments[0] == "closing":
            if self.has_answered:
                # The client has sent this request before it knew that the connection is closed.
                with lock:
                    requests.append({"method": "CLOSED", "path": self.path, "headers": {}})
                self.close_connection = True
                return
            self.has_answered = True
            segments[0] = "items"
        if query.get("slash"):
            if segments.pop() != "":
                return self.respond(301, Location=url.path + "/")
        if query.get("uuid") == "lower":
            # A server with a type for UUIDs: it reads both spellings, and writes one.
            segments[2:] = [segment.lower() for segment in segments[2:]]
            if body:
                body = json.dumps({**json.loads(body), "id": json.loads(body)["id"].lower()}).encode()
        if segments[0] == "requests":
            with lock:
                found = [request for request in requests if query["containing"] in request["path"]]
            return self.respond(200, json.dumps(found).encode())
        if segments[0] in ("mark", "unmark"):
            with lock:
                (marks.add if segments[0] == "mark" else marks.discard)(segments[1])
            return self.respond(204)
        if segments[0] == "gate":
            stream_state(query["mark"]).gate.release()
            return self.respond(204)
        if segments[0] == "progress":
            state = stream_state(query["mark"])
            return self.respond(200, json.dumps({"sent": state.sent, "closed": state.closed}).encode())
        with lock:
            requests.append({"method": self.command, "path": self.path, "headers": dict(self.headers.items())})
        if query.get("refuse") == self.command:
            return self.respond(422)
        if query.get("portal") == self.command:
            return self.answer_instead("html")
        if query.get("away") in marks:
            return self.answer_instead(query["answer"])
        if self.command == "GET" and len(segments) == 3 and segments[2] == query.get("unreadable"):
            return self.answer_instead(query["answer"])
        if segments[0] == "fault":
            return self.fault(segments[1], query)
        if segments[0] == "stream":
            return self.stream(segments[1], query)
        if segments[0] == "private" and self.headers.get("Authorization") != "Bearer " + token:
            return self.respond(401, b'{"error": "unauthorized"}', WWW_Authenticate='Bearer realm="notes"')
        if segments[0] in ("items", "private") and len(segments) == 2:
            return self.collection(segments[1], url.path, query)
        if segments[0] in ("items", "private") and len(segments) == 3 and segments[2]:
            return self.item(segments[1], unquote_to_bytes(segments[2]), body, query)
        self.respond(404)

    def answer_instead(self, answer):
        if answer == "html":
            return self.respond(200, b"<html>Log in</html>", Content_Type="text/html; charset=utf-8")
        self.respond(200 if answer == "empty" else int(answer))

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = handle_request

    def collection(self, name, path, query):
        if self.command != "GET":
            return self.respond(405)
        with lock:
            items = [data for data, _ in collections.setdefault(name, {}).values()]
        headers = {}
        if "size" in query:
            size, page = int(query["size"]), int(query.get("page", "0"))
            if (page + 1) * size < len(items):
                following = urlencode({**query, "page": page + 1})
                headers["Link"] = f'<{path}?page=0>; rel="first", <{path}?{following}>; rel="next"'
            items = items[page * size:(page + 1) * size]
        if query.get("form") == "indented":
            body = json.dumps([json.loads(item) for item in items], indent=4).encode()
        elif query.get("form") == "brief":
            objects = [json.loads(item) for item in items]
            body = json.dumps([{name: item[name] for name in ("id", "a") if name in item} for item in objects]).encode()
        else:
            body = b"[" + b",".join(items) + b"]"
        for member in reversed(query["path"].split(".") if "path" in query else []):
            body = b'{"total": 1, ' + json.dumps(member).encode() + b": " + body + b"}"
        self.respond(200, body, Content_Type="application/json", **headers)

    def is_met(self, stored):
        """Whether the conditions of a change are met: RFC 9110, section 13.1."""
        tags = [tag.strip() for tag in self.headers.get("If-Match", "").split(",") if tag]
        none = [tag.strip() for tag in self.headers.get("If-None-Match", "").split(",") if tag]
        tag = entity_tag(stored[0]) if stored else None
        return (not tags or stored and ("*" in tags or tag in tags)) and not (stored and ("*" in none or tag in none))

    def item(self, name, id, body, query):
        kind, fate = query.get("tags", "none"), None
        with lock:
            items = collections.setdefault(name, {})
            if self.command != "GET" and "lose" in query:
                fates = losses.setdefault(query["mark"], query["lose"].split(","))
                fate = fates.pop(0) if fates else None
                if fate == "before":
                    if "meddle" in query:
                        items[id] = (b'{"id": "%s", "by": "another"}' % id, formatdate(usegmt=True))
                    self.close_connection = True
                    return
            if self.command != "GET" and kind != "ignored" and (kind == "never" or not self.is_met(items.get(id))):
                status, body, date = 412, b"", None
            elif self.command == "DELETE":
                items.pop(id, None)
                status, body, date = 204, b"", None
            elif self.command == "PUT":
                status = 200 if id in items else 201
                items[id] = (body, formatdate(usegmt=True))
                body, date = b"", None
            elif id in items:
                status, (body, date) = 200, items[id]
                stored = body
                if query.get("form") == "indented":
                    body = json.dumps(json.loads(body), indent=4).encode()
            else:
                status, body, date = 404, b'{"error": "absent"}', None
            if fate == "after":
                if "meddle" in query:
                    items[id] = (b'{"id": "%s", "by": "another"}' % id, formatdate(usegmt=True))
                self.close_connection = True
                return
        headers = {"Last-Modified": date} if date else {}
        if date and kind in ("strong", "weak", "ignored", "never"):
            headers["ETag"] = ("W/" if kind == "weak" else "") + entity_tag(stored)
        self.respond(status, body, **headers)

    def stream(self, kind, query):
        state = stream_state(query["mark"])
        if kind == "mute":
            return self.wait_for_close(state)
        compression = zlib.compressobj(wbits=31) if "gzip" in query else None
        self.send_response(int(query.get("status", "200")))
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        if compression:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.flush()

        def send(part, last=False):
            data = part
            if compression:
                data = compression.compress(part) + compression.flush(zlib.Z_FINISH if last else zlib.Z_SYNC_FLUSH)
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data) if data else b"")
            self.wfile.write(b"0\r\n\r\n" if last else b"")
            self.wfile.flush()
            state.sent += len(part)

        try:
            if kind == "large":
                for number in range(int(query["parts"])):
                    send(bytes([number % 251]) * 65536)
                return send(b"", last=True)
            if kind == "flood":
                for _ in range(int(query.get("MiB", "1000000")) * 16):
                    send(b" " * 65536)
                return self.wait_for_close(state)
            send(b"data: 0\n\n")
            if kind == "steps":
                for number in range(1, int(query["parts"])):
                    state.gate.acquire()
                    send(b"data: %d\n\n" % number)
                return send(b"", last=True)
            if kind == "open":
                return self.wait_for_close(state)
            # Cut: the connection ends within a chunk or between two, before the last.
            self.wfile.write(b"ff\r\ndata" if kind == "cutchunk" else b"")
            self.close_connection = True
        except OSError:
            state.closed = True
            self.close_connection = True

    def wait_for_close(self, state):
        self.close_connection = True
        try:
            state.closed = self.connection.recv(1) == b""
        except OSError:
            state.closed = True

    def sip(self):
        """Reads the body of a request in small parts."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
        rest = int(self.headers["Content-Length"])
        while rest > 0 and not over.wait(0.05):
            rest -= len(self.rfile.read(min(rest, 1 << 17)))
        self.respond(204)

    def fault(self, kind, query):
        if kind == "hangup":
            self.close_connection = True
            return
        if kind == "status":
            headers = {"Retry_After": query["after"]} if "after" in query else {}
            return self.respond(int(query["status"]), b"not JSON", WWW_Authenticate="Basic", **headers)
        if kind == "raw":
            self.wfile.write(bytes.fromhex(query["hex"]))
            self.close_connection = True
            return
        if kind == "body":
            return self.respond(200, bytes.fromhex(query["hex"]))
        if kind == "half":
            self.send_response(200)
            self.send_header("Content-Length", "100")
            self.end_headers()
            self.wfile.write(b'[{"id": "1"},')
            self.wfile.flush()
            if "close" not in query:
                over.wait()
            self.close_connection = True
            return
        if kind == "drip":
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            self.close_connection = True
            try:
                while not over.wait(0.05):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            except OSError:
                pass
            return
        if kind == "silent":
            over.wait()
            return
        if kind == "endless":
            self.send_response(200)
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            part = b" " * (1 << 20)
            try:
                for _ in range(1 << 10):
                    self.wfile.write(part)
            except OSError:
                pass
            return
        if kind == "gzip":
            compression = zlib.compressobj(level=1, wbits=31)
            parts = [compression.compress(b"[")]
            parts += [compression.compress(b" " * (1 << 20)) for _ in range(int(query.get("MiB", "0")))]
            parts += [compression.compress(b'{"id": "1"}]'), compression.flush()]
            return self.respond(200, b"".join(parts), Content_Encoding="gzip")
        if kind == "cookie":
            return self.respond(200, b"[]", Set_Cookie="session=secret; Path=/")
        if kind == "link":
            return self.respond(200, b'[{"id": "1"}]', Link=query["link"])
        if kind == "redirect":
            return self.respond(int(query.get("status", "302")), Location=query["to"])
        self.respond(404)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, *_):
        pass


server = Server(("127.0.0.1", int(sys.argv[2]) if len(sys.argv) > 2 else 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
over.set()
os._exit(0)
