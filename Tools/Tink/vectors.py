"""Checks the format of encrypted items with Tink.

Usage: vectors.py write FOLDER     writes a keyset and items, encrypted by Tink
       vectors.py check FOLDER     decrypts the items that an engine has written there
"""

import base64
import io
import json
import struct
import sys
from pathlib import Path

import tink
from tink import aead, cleartext_keyset_handle

KINDS = {"hashed": 0, "url": 1, "verbatim": 2}

ITEMS = [
    ("", "hashed", "", b""),
    ("notes", "hashed", "dolly", b"Hello, world!"),
    ("notes", "verbatim", "dolly", b"Hello, world!"),
    ("notes", "url", "example.com/a", bytes(range(256))),
    ("no", "hashed", "tesdolly", b"\x00"),
    ("caf\u00e9", "verbatim", "\u0000e\u0301\U0001f411", b"x" * 10_000),
]


def associated_data(collection, kind, identity):
    name = collection.encode()
    return b"emporium.item.1" + struct.pack(">Q", len(name)) + name + bytes([KINDS[kind]]) + identity.encode()


def read_keyset(folder):
    return cleartext_keyset_handle.read(tink.JsonKeysetReader((folder / "keyset.json").read_text()))


def write(folder):
    handle = tink.new_keyset_handle(aead.aead_key_templates.AES256_GCM)
    text = io.StringIO()
    cleartext_keyset_handle.write(tink.JsonKeysetWriter(text), handle)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "keyset.json").write_text(text.getvalue())
    primitive = handle.primitive(aead.Aead)
    items = []
    for collection, kind, identity, data in ITEMS:
        stored = primitive.encrypt(data, associated_data(collection, kind, identity))
        items.append(
            {
                "collection": collection,
                "kind": kind,
                "identity": identity,
                "data": base64.b64encode(data).decode(),
                "stored": base64.b64encode(stored).decode(),
            }
        )
    (folder / "items.json").write_text(json.dumps(items, indent=2) + "\n")


def check(folder):
    primitive = read_keyset(folder).primitive(aead.Aead)
    items = json.loads((folder / "items.json").read_text())
    if not items:
        sys.exit(f"{folder} has no items.")
    for item in items:
        data = primitive.decrypt(
            base64.b64decode(item["stored"]),
            associated_data(item["collection"], item["kind"], item["identity"]),
        )
        if data != base64.b64decode(item["data"]):
            sys.exit(f"Tink reads another item under {item['identity']!r}.")
    print(f"Tink reads the {len(items)} items in {folder}.")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    aead.register()
    (write if sys.argv[1] == "write" else check)(Path(sys.argv[2]))
