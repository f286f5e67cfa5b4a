"""A server and clients in processes of their own, which are killed, stopped and cut off while they synchronize.

Usage: cluster.py PROGRAMS FOLDER CLIENTS SECONDS RATE SEED

PROGRAMS is the folder of the programs `bodega` and `SyncClient`. A client makes RATE transactions per second or fewer,
but at least a quarter of that. The program prints a report as JSON: counts, figures, and what does not hold.
"""

import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import threading
import time

import oracle

programs, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
count, seconds, rate, seed = int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]), sys.argv[6]
chance = random.Random(seed)
proxy_program = pathlib.Path(__file__).parent.parent / "Proxy" / "proxy.py"
environment = dict(os.environ, no_proxy="*", TMPDIR=str(folder))
violations = []
events = {"partitions": 0, "kills": 0, "stops": 0, "server kills": 0, "server stops": 0}

# The longest time until everything is synchronized after all faults have ended, before the test gives up.
PATIENCE = 60


class Process:
    """A program whose lines of output are noted."""

    running = []

    def __init__(self, arguments, name):
        self.lines = []
        self.changed = threading.Condition()
        self.is_expected_to_run = True
        with open(folder / (name + ".log"), "ab") as log:
            self.process = subprocess.Popen(
                [str(argument) for argument in arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                env=environment, cwd=folder, text=True)
        self.running.append(self.process)
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.lines.append(line.strip())
                self.changed.notify_all()
        with self.changed:
            self.lines.append(None)
            self.changed.notify_all()

    def await_line(self, matches, limit=60):
        """The first line that matches; `None` if the program has ended or is silent."""
        with self.changed:
            self.changed.wait_for(lambda: None in self.lines or any(map(matches, self.lines)), limit)
            return next((line for line in self.lines if line is not None and matches(line)), None)

    def say(self, text):
        try:
            self.process.stdin.write(text + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            # It has ended, which is reported at the end.
            pass

    def send(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.is_expected_to_run = False
        self.process.kill()
        self.process.wait()

    @property
    def has_failed(self):
        return self.is_expected_to_run and self.process.poll() is not None


class Server:
    def __init__(self):
        self.path = folder / "server.db"
        for name in oracle.COLLECTIONS:
            run("put", f"{self.path}#{name}", "first", text="{}")
            run("rm", f"{self.path}#{name}", "first")
        self.token = run("token", "create", f"{self.path}#tokens", "all").strip()
        oracle.record(self.path)
        self.port = 0
        self.start()

    def start(self):
        arguments = ["serve", self.path, "--tokens", f"{self.path}#tokens", "--port", self.port]
        self.process = Process([programs / "bodega", *arguments], "server")
        line = self.process.await_line(lambda line: "http://" in line)
        if line is None:
            raise SystemExit("The server does not start: " + (folder / "server.log").read_text())
        self.port = int(line.split("http://")[1].split()[0].rstrip("/").split(":")[1])


class Client:
    def __init__(self, number, port, token):
        self.number, self.port, self.token = number, port, token
        self.path, self.journal = folder / f"client{number}.db", folder / f"client{number}.journal"
        self.runs = 0
        self.start()

    def start(self):
        self.runs += 1
        name = f"{self.number}.{self.runs}"
        self.process = Process(
            [
                programs / "SyncClient", self.path, self.journal, f"http://127.0.0.1:{self.port}", self.token, name,
                chance.getrandbits(63), chance.uniform(rate / 4, rate), count,
            ], f"client{self.number}")
        if self.process.await_line(lambda line: line == "ready") is None:
            raise SystemExit("A client does not start: " + self.log)
        if self.runs == 1:
            oracle.record(self.path)
        else:
            self.process.say("begin")

    @property
    def log(self):
        return (folder / f"client{self.number}.log").read_text()[-2_000:]


def run(*arguments, text=""):
    result = subprocess.run(
        [str(programs / "bodega"), *map(str, arguments)], input=text, capture_output=True, text=True, env=environment,
        cwd=folder)
    if result.returncode:
        raise SystemExit(f"bodega {' '.join(map(str, arguments))}: {result.stderr}")
    return result.stdout


class Watch:
    """Looks at all pairs of all files, each time at one moment."""

    def __init__(self, paths):
        self.paths = paths
        self.looks = 0
        self.torn = set()
        self.has_ended = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        databases = [(path, oracle.connect(path)) for path in self.paths]
        try:
            while not self.has_ended.wait(0.02):
                path, db = databases[self.looks % len(databases)]
                self.looks += 1
                self.torn.update(f"{path.name} has half of a transaction: {pair}" for pair in oracle.torn_pairs(db))
        except Exception as error:
            violations.append(f"pairs can't be looked at: {error!r}")

    def end(self):
        self.has_ended.set()
        self.thread.join()
        violations.extend(sorted(self.torn)[:5])


def inject_faults(server, clients, proxy):
    """Injects faults until the time is over. Those that last go on beside others."""
    start = time.monotonic()
    ends = []
    longest = min(10, seconds / 3)

    def later(delay, action):
        ends.append((time.monotonic() + delay, action))

    def partition(client):
        events["partitions"] += 1
        proxy.say(f"cut {client.number} {chance.choice(['in', 'out', 'both'])}")
        later(chance.uniform(0, longest), lambda: proxy.say(f"heal {client.number}"))

    def kill(client):
        events["kills"] += 1
        client.process.kill()
        client.start()

    def stop(program, name="stops"):
        events[name] += 1
        process = program.process
        process.send(signal.SIGSTOP)
        later(chance.uniform(0, longest / 3), lambda: process.send(signal.SIGCONT))

    def kill_server(_):
        events["server kills"] += 1
        server.process.kill()
        server.start()

    def stop_server(_):
        stop(server, "server stops")

    while time.monotonic() < start + seconds:
        time.sleep(chance.uniform(0, 1.0 if seconds > 30 else 0.5))
        for end in [end for end in ends if end[0] <= time.monotonic()]:
            ends.remove(end)
            end[1]()
        action = chance.choices([partition, kill, stop, kill_server, stop_server], [12, 4, 4, 2, 1])[0]
        action(chance.choice(clients))
    for program in [server, *clients]:
        program.process.send(signal.SIGCONT)


def state(server, clients):
    """What is not synchronized yet."""
    left = []
    expected = oracle.items(server)
    for number, db in enumerate(clients):
        changes, parked = oracle.outbox(db)
        if changes:
            left.append(f"client {number} has {changes} changes in its outbox, parked are {parked}")
        found = oracle.items(db)
        different = [key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key)]
        if different:
            left.append(f"client {number} differs in {len(different)} items: {sorted(different)[:3]}")
    return left


def main():
    server = Server()
    proxy = Process([sys.executable, proxy_program, server.port, seed, count], "proxy")
    ports = proxy.await_line(lambda line: True).split()
    clients = [Client(number, port, server.token) for number, port in enumerate(ports)]
    databases = [oracle.connect(client.path) for client in clients]
    for client in clients:
        client.process.say("begin")
    watch = Watch([server.path] + [client.path for client in clients])
    inject_faults(server, clients, proxy)
    for client in clients:
        client.process.say("end")
    for client in clients:
        if client.process.await_line(lambda line: line == "quiet") is None:
            violations.append(f"client {client.number} does not end its transactions: {client.log}")

    proxy.say("calm")
    for client in clients:
        proxy.say(f"heal {client.number}")
    healed = time.monotonic()
    server_database = oracle.connect(server.path)
    while (left := state(server_database, databases)) and time.monotonic() < healed + PATIENCE:
        time.sleep(0.1)
    converged = time.monotonic() - healed
    violations.extend(left)
    for client in clients:
        if client.process.await_line(lambda line: line == "settled", 0 if left else 30) is None:
            violations.append(f"settled() does not return in client {client.number}: {client.log}")
    settled = time.monotonic() - healed
    watch.end()
    for name, process in [("server", server.process)] + [(f"client {c.number}", c.process) for c in clients]:
        if process.has_failed:
            violations.append(f"the process of the {name} has ended")
        process.kill()
    proxy.process.stdin.close()
    faults = json.loads(proxy.await_line(lambda line: line.startswith("{")))

    check = oracle.Check(server.path, [(client.path, client.journal) for client in clients])
    check.run()
    print(json.dumps({
        "violations": violations + check.violations[:20], "counts": dict(check.counts), "events": events,
        "faults": faults, "looks": watch.looks, "converged": round(converged, 2), "settled": round(settled, 2),
    }))


try:
    main()
finally:
    for process in Process.running:
        process.kill()
