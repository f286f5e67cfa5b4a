"""What must hold of a server and its clients, read from their SQLite files and the clients' journals.

It shares no code with the package. Triggers in the files, see `record`, note each version of each item.
"""

import base64
import collections
import json
import sqlite3

COLLECTIONS = ["a", "b", "c", "d"]
OUTBOX = "emporium-outbox"


def connect(path):
    return sqlite3.connect(path, timeout=60, isolation_level=None)


def tables(db):
    """The tables of the collections, by the collections' names."""
    return {name: f"emporium_collection_{number}" for number, name in db.execute(
        "SELECT id, name FROM emporium_collections WHERE name <> ''")}


def record(path):
    """Notes all versions of the items of a file from now on, also those that are there."""
    db = connect(path)
    db.execute("BEGIN IMMEDIATE")
    db.execute("CREATE TABLE versions (number INTEGER PRIMARY KEY, collection, key, value, time)")
    now = "(julianday('now') - 2440587.5) * 86400.0"
    columns = "INSERT INTO versions (collection, key, value, time)"
    for name, table in tables(db).items():
        if name not in COLLECTIONS + [OUTBOX]:
            continue
        db.execute(f"{columns} SELECT '{name}', key, value, {now} FROM {table}")
        for event, row, value in [
                ("INSERT", "new", "new.value"), ("UPDATE", "new", "new.value"), ("DELETE", "old", "NULL")]:
            db.execute(
                f"CREATE TRIGGER \"versions {name} {event}\" AFTER {event} ON {table} BEGIN "
                f"{columns} VALUES ('{name}', {row}.key, {value}, {now}); END")
    db.execute("COMMIT")
    db.close()


def items(db):
    """All items, at one moment."""
    db.execute("BEGIN")
    found = {}
    for name, table in tables(db).items():
        if name in COLLECTIONS:
            for key, value in db.execute(f"SELECT key, value FROM {table}"):
                found[name + "/" + key] = bytes(value)
    db.execute("COMMIT")
    return found


def torn_pairs(db):
    """The pairs of which only one item has been changed, at one moment."""
    found = {}
    db.execute("BEGIN")
    table = tables(db)
    for name in ("a", "b"):
        for key, value in db.execute(f"SELECT key, value FROM {table[name]} WHERE key LIKE 'p%'"):
            found.setdefault(key, {})[name] = members(value)["p"]
    db.execute("COMMIT")
    return [f"{key}: {pair}" for key, pair in found.items() if pair.get("a") != pair.get("b")]


def outbox(db):
    """The number of changes in the outbox and requests without an outcome, and the parked changes."""
    db.execute("BEGIN")
    table = tables(db)
    records = [json.loads(value)["record"] for (value,) in db.execute(f"SELECT value FROM {table[OUTBOX]}")]
    rows = db.execute(f"SELECT value FROM {table['emporium-sync']} WHERE key = 'place'").fetchall()
    db.execute("COMMIT")
    requests = sum(len(json.loads(value)["requests"]) for (value,) in rows)
    parked = [record["edit"]["failure"] for record in records if record.get("edit", {}).get("failure")]
    return len(records) + requests, parked


def name(item):
    """The collection and the key of an item that the package has encoded."""
    key = item["key"]
    return item["collection"] + "/" + (key if isinstance(key, str) else key["rawValue"])


def removals(db):
    """The removals that were in the outbox: items, times, and the versions that were removed.

    The second version is the one to remove if the first, which was on its way, has not reached the server.
    """
    def decoded(data):
        return members(None if data is None else base64.b64decode(data))

    rows = db.execute("SELECT value, time FROM versions WHERE collection = ? AND value NOT NULL", (OUTBOX,))
    for value, time in rows:
        entry = json.loads(value)
        record = entry["record"]
        if "edit" in record and record["edit"].get("data") is None:
            sent = record.get("sent")
            versions = [sent.get("data"), sent.get("base")] if sent else [record.get("server")] * 2
            yield name(entry["item"]), time, [decoded(version) for version in versions]


def lost_by_policy(db):
    """What a client was told to have lost, by items: tokens, and `None` for a removal."""
    found = collections.defaultdict(set)
    for (value,) in db.execute(f"SELECT value FROM {tables(db)['emporium-conflicts']}"):
        conflict = json.loads(value)["conflict"]
        item = name(conflict["versions"])
        for loss in conflict["losses"]:
            if loss["side"] != "local":
                continue
            lost = json.loads(base64.b64decode(loss["lost"])) if loss.get("lost") is not None else None
            tokens = lost.values() if isinstance(lost, dict) else [lost]
            found[item].update(tokens)
    return found


class Transaction:
    def __init__(self, client, number, line):
        self.client, self.number = client, number
        self.kind, self.token, self.items = line["kind"], line["token"], line["items"]
        self.member, self.time = line.get("member"), line["time"]
        self.end, self.removed = None, []
        self.is_stored = False

    @property
    def is_acknowledged(self):
        return self.end is not None


def journal(client, path):
    """The transactions of a client, in their order."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            try:
                line = json.loads(line)
            except ValueError:
                # Its process was killed while it wrote the line, before the transaction began or after its end.
                continue
            if "acknowledged" in line:
                found[line["acknowledged"]].end = line["time"]
            else:
                found[line["token"]] = Transaction(client, number, line)
    return list(found.values())


def members(value):
    """The tokens of an item by its members; `None` if there is no item."""
    return None if value is None else {name: token for name, token in json.loads(value).items() if name != "id"}


def versions(db):
    """All versions, in their order: the item, its members before and after, and the time."""
    before = {}
    rows = db.execute(
        "SELECT collection, key, value, time FROM versions WHERE collection <> ? ORDER BY number", (OUTBOX,))
    for collection, key, value, time in rows:
        item = collection + "/" + key
        new = members(value)
        yield item, before.get(item), new, time
        before[item] = new


class Check:
    """Compares what clients have written with what has become of it."""

    def __init__(self, server, clients):
        """server: the path of its file; clients: for each one, the paths of its file and its journal."""
        self.server, self.clients = server, clients
        self.violations = []
        self.counts = collections.Counter()

    def fail(self, text):
        self.violations.append(text)

    def run(self):
        transactions = [t for number, (_, path) in enumerate(self.clients) for t in journal(number, path)]
        self.by_token = {t.token: t for t in transactions}
        self.removals = collections.defaultdict(list)
        for t in transactions:
            if t.kind == "remove":
                self.removals[t.items[0]].append(t)
        self.check_server()
        self.check_clients(transactions)
        self.check_writes([t for t in transactions if t.is_acknowledged or t.is_stored])
        self.counts["transactions"] = len(transactions)
        self.counts["acknowledged"] = sum(t.is_acknowledged for t in transactions)

    def check_clients(self, transactions):
        """A write that was acknowledged is in its client's file, and no member gets an old value again."""
        self.lost = []
        for number, (path, _) in enumerate(self.clients):
            db = connect(path)
            self.lost.append(lost_by_policy(db))
            stored, left = set(), collections.defaultdict(set)
            removed = collections.defaultdict(list)
            for item, time, (first, second) in removals(db):
                has_arrived = any(new == first for _, _, new in self.history[item])
                removed[item].append((time, first if has_arrived else second))
            for item, old, new, _ in versions(db):
                stored.update((new or {}).values())
                if old is None or new is None:
                    # A removed item can come back with what it was before.
                    for name in [name for name in left if name[0] == item]:
                        del left[name]
                    continue
                for member, token in new.items():
                    if old.get(member) == token:
                        continue
                    # A removal and a change that has brought the item back can come in one pull.
                    if token in left[item, member] and token not in self.revived[item]:
                        self.fail(f"client {number} sees the old value {token} of {item} {member} again")
                    if member in old:
                        left[item, member].add(old[member])
            db.close()
            for t in transactions:
                if t.client != number:
                    continue
                if t.kind == "remove":
                    # Otherwise there was nothing to remove from the server. SQLite's time is rounded.
                    times = (t.time - 0.01, (t.end or 0) + 0.01)
                    t.removed = [
                        version for time, version in removed[t.items[0]]
                        if version is not None and times[0] < time < times[1]]
                    continue
                t.is_stored = t.token in stored
                if t.is_acknowledged and not t.is_stored:
                    self.fail(f"{t.token} was acknowledged, but client {number} has never had it")

    def check_server(self):
        """Each write takes effect once, and nothing changes that no client has written."""
        db = connect(self.server)
        self.reached, self.history = collections.defaultdict(set), collections.defaultdict(list)
        self.revived = collections.defaultdict(set)
        effects, pairs = collections.Counter(), {"a": collections.defaultdict(list), "b": collections.defaultdict(list)}
        self.end = {}
        for item, old, new, time in versions(db):
            self.end[item] = new
            self.history[item].append((time, old, new))
            self.counts["versions"] += 1
            if new is None:
                if not any(t.time <= time for t in self.removals[item]):
                    self.fail(f"{item} was removed, but no client has removed it")
                continue
            for member, token in new.items():
                if (old or {}).get(member) == token:
                    continue
                self.reached[item].add(token)
                t = self.by_token.get(token)
                if t is None or item not in t.items or member != t.member:
                    self.fail(f"{token} in {item} {member}: no client has written it there")
                if old is None:
                    self.revived[item].add(token)
                    continue
                effects[item, token] += 1
                if effects[item, token] == 2:
                    self.fail(f"{token} in {item} {member} has taken effect twice")
            for member in old or {}:
                if member not in new and not self.removals[item]:
                    self.fail(f"{item} has lost {member}, which was {old[member]}")
            collection, key = item.split("/")
            if key.startswith("p") and (not old or old["p"] != new["p"]):
                pairs[collection][key].append(new["p"])
        for key in set(pairs["a"]) | set(pairs["b"]):
            if pairs["a"][key] != pairs["b"][key]:
                self.fail(f"the items of the pair {key} have had different versions")
        db.close()

    def check_writes(self, transactions):
        """Each write has reached the server, unless its client has written over it or was told that it has lost."""
        later = collections.defaultdict(list)
        for t in transactions:
            for item in t.items:
                later[t.client, item].append(t)
        for t in transactions:
            for item in t.items:
                if t.token in self.reached[item] or t.token in self.lost[t.client][item]:
                    continue
                others = [o for o in later[t.client, item] if o.number > t.number]
                if t.kind == "remove":
                    if not t.removed or None in self.lost[t.client][item] or others:
                        continue
                    # Others may have removed the same version before.
                    starts = [time for time, _, new in self.history[item] if new in t.removed] + [t.time]
                    absences = [time for time, old, new in self.history[item] if old is None or new is None]
                    if self.end.get(item) is None or any(time >= min(starts) for time in absences):
                        continue
                elif any(o.kind == "remove" or o.member == t.member for o in others):
                    continue
                self.fail(f"{t.kind} {t.token} of {item} by client {t.client} has vanished")
        for t in transactions:
            item = t.items[0]
            if t.kind == "add" and (self.end.get(item) or {}).get(t.token) != t.token:
                self.fail(f"{t.token} is missing in the set {item}")
            if t.kind == "insert" and self.end.get(item) != {"x": t.token}:
                self.fail(f"{item}, which one client has inserted, is missing")
