#!/usr/bin/env python3
"""Prints the tokens of WebTokenTests, as JSON. Needs PyJWT 2 and cryptography:

    pip install pyjwt cryptography
    python3 vectors.py >vectors.json

Each run makes other keys. The tokens of "valid" are for the clock 1,900,000,000, and those of "attacks" must be refused
then.
"""
import base64, hashlib, hmac, json

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

NOW = 1_900_000_000
SECRET = bytes(range(64))


def pem(key):
    return key.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo).decode()


def b64(data):
    data = data if isinstance(data, bytes) else json.dumps(data).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


keys = {
    "RS256": rsa.generate_private_key(65537, 2048), "PS256": rsa.generate_private_key(65537, 2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()), "ES384": ec.generate_private_key(ec.SECP384R1()),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
keys |= {name: SECRET for name in ["HS256", "HS384", "HS512"]}
claims = {"iss": "https://login.example.com", "aud": "notes", "sub": "ada", "exp": NOW + 600, "role": "reader"}


def token(algorithm="ES256", header=None, **changes):
    payload = {name: value for name, value in (claims | changes).items() if value is not None}
    header = {"kid": algorithm} | (header or {})
    if header["kid"] is None:
        del header["kid"]
    return jwt.encode(payload, keys[algorithm], algorithm, header)


def raw(header, payload, secret=SECRET):
    """A token with any header and any text as claims, signed with HS256."""
    signed = b64(header) + "." + b64(payload)
    return signed + "." + b64(hmac.new(secret, signed.encode(), hashlib.sha256).digest())


es, hs = token("ES256"), token("HS256")
head, body, signature = es.split(".")
hs256 = {"alg": "HS256", "kid": "HS256"}
# A token whose signature has both characters in which the two alphabets of Base64 differ.
hs_with_signs = next(
    made for made in (raw(hs256, claims | {"n": number}) for number in range(10_000))
    if all(sign in made.rsplit(".", 1)[1] for sign in "-_"))
valid = {name: token(name) for name in keys}
valid |= {
    "several audiences": token(aud=["other", "notes"]), "without kid": token(header={"kid": None}),
    "without typ": token(header={"typ": None}), "access token": token(header={"typ": "at+JWT"}),
    "media type": token(header={"typ": "application/jwt"}), "begins now": token(nbf=NOW),
    "parts of seconds": token(exp=NOW + 600.5), "clock 29 s behind": token(nbf=NOW + 29),
    "ended 29 s ago": token(exp=NOW - 29), "made by hand": raw(hs256, claims),
    "both signs": hs_with_signs,
}
attacks = {
    # RFC 8725, 2.1: the algorithm is none, or another one than that of the key.
    "none": b64({"alg": "none", "typ": "JWT"}) + "." + body + ".",
    "none with a signature": b64({"alg": "none", "kid": "ES256"}) + "." + body + "." + signature,
    "None": b64({"alg": "None"}) + "." + body + ".", "empty alg": raw({"alg": "", "kid": "HS256"}, claims),
    "no alg": raw({"kid": "HS256"}, claims), "lower case": raw({"alg": "hs256", "kid": "HS256"}, claims),
    "alg is a list": raw({"alg": ["HS256"], "kid": "HS256"}, claims),
    "HS256 with the public key of RS256": raw({"alg": "HS256", "kid": "RS256"}, claims, pem(keys["RS256"]).encode()),
    "HS256 with the public key of ES256": raw({"alg": "HS256"}, claims, pem(keys["ES256"]).encode()),
    "RS256 says PS256": token("RS256", {"alg": "PS256", "kid": "PS256"}),
    "PS256 with the key of RS256": jwt.encode(claims, keys["RS256"], "PS256", {"kid": "RS256"}),
    "HS512 with the key of HS256": raw({"alg": "HS512", "kid": "HS512"}, claims),
    # 2.2: weak keys, 2.3: signatures that are not checked.
    "another secret": raw(hs256, claims, b"secret" * 6), "empty secret": raw(hs256, claims, b""),
    "no signature": es.rsplit(".", 1)[0] + ".",
    "changed claims": head + "." + b64(claims | {"sub": "bob"}) + "." + signature,
    "changed signature": es[:-6] + ("A" if es[-6] != "A" else "B") + es[-5:],
    "signature of zeros": head + "." + body + "." + b64(bytes(64)),
    "short signature": head + "." + body + "." + b64(b"\0"),
    "signature of another key": jwt.encode(
        claims, ec.generate_private_key(ec.SECP256R1()), "ES256", {"kid": "ES256"}),
    # 2.4: other encodings and structures.
    "two parts": head + "." + body, "four parts": es + ".", "five parts": es + "..", "empty": "", "dots": "..",
    "padding": es + "=", "a space": es + " ", "a line": es + "\n",
    "standard alphabet": hs_with_signs.replace("-", "+").replace("_", "/"),
    "bits after the end": raw(hs256, claims)[:-1] + chr(ord(raw(hs256, claims)[-1]) + 1),
    "not UTF-8": raw(hs256, json.dumps(claims)[:-1].encode() + b', "x": "\xff"}'),
    "byte order mark": raw(hs256, b"\xef\xbb\xbf" + json.dumps(claims).encode()),
    "UTF-16": raw(hs256, json.dumps(claims).encode("utf-16")),
    "claims twice": raw(hs256, json.dumps(claims)[:-1].encode() + b', "sub": "bob"}'),
    "header twice": raw(b'{"alg": "none", "alg": "HS256"}', claims), "claims are a list": raw(hs256, [claims]),
    "claims are a text": raw(hs256, "ada"), "nested token": raw(hs256 | {"cty": "JWT"}, es),
    # 2.6 to 2.8: substitution, for others and of other kinds.
    "no issuer": token(iss=None), "another issuer": token(iss="https://login.example.com/"),
    "issuer is a list": raw(hs256, claims | {"iss": ["https://login.example.com"]}),
    "no audience": token(aud=None), "another audience": token(aud="Notes"),
    "audiences of others": token(aud=["a", "b"]),
    "empty audiences": raw(hs256, claims | {"aud": []}), "audience is a number": raw(hs256, claims | {"aud": 1}),
    "another kind": token(header={"typ": "secevent+jwt"}), "another kind, logout": token(header={"typ": "logout+jwt"}),
    # 2.9 and 2.10: what the header says is not obeyed.
    "unknown kid": token(header={"kid": "other"}), "kid is a path": token(header={"kid": "../../../dev/null"}),
    "kid of another key": token(header={"kid": "ES384"}), "kid is a number": raw({"alg": "HS256", "kid": 1}, claims),
    "own key": jwt.encode(claims, (own := ec.generate_private_key(ec.SECP256R1())), "ES256", {"jwk": json.loads(
        jwt.algorithms.ECAlgorithm.to_jwk(own.public_key()))}),
    "address of a key": jwt.encode(claims, own, "ES256", {"jku": "https://evil.example.com/keys", "kid": "ES256"}),
    "demanded extension": raw(hs256 | {"crit": ["b64"], "b64": True}, claims),
    "empty demand": raw(hs256 | {"crit": []}, claims),
    # Times.
    "no end": token(exp=None), "ended": token(exp=NOW - 31), "ended long ago": token(exp=1),
    "end is a text": raw(hs256, claims | {"exp": str(NOW + 600)}),
    "end is infinite": raw(hs256, json.dumps(claims).replace(str(NOW + 600), "1e999").encode()),
    "end is beyond the calendar": raw(hs256, claims | {"exp": 10**12}),
    "end is negative": raw(hs256, claims | {"exp": -1}),
    "end is null": raw(hs256, claims | {"exp": None}), "end is true": raw(hs256, claims | {"exp": True}),
    "not yet": token(nbf=NOW + 31), "beginning is a text": raw(hs256, claims | {"nbf": "0"}),
}
sets = {"keys": [json.loads(text) | {"kid": name} for name, text in [
    ("RS256", jwt.algorithms.RSAAlgorithm.to_jwk(keys["RS256"].public_key())),
    ("ES256", jwt.algorithms.ECAlgorithm.to_jwk(keys["ES256"].public_key())),
    ("ES384", jwt.algorithms.ECAlgorithm.to_jwk(keys["ES384"].public_key())),
    ("EdDSA", jwt.algorithms.OKPAlgorithm.to_jwk(keys["EdDSA"].public_key())),
]]}
for key in sets["keys"]:
    key.pop("key_ops", None)
print(json.dumps({
    "now": NOW, "secret": base64.b64encode(SECRET).decode(),
    "publicKeys": {name: pem(key) for name, key in keys.items() if key is not SECRET},
    "keySet": sets, "valid": valid, "attacks": attacks,
    "bob": token(sub="bob"), "later": token(exp=NOW + 1200, jti="2", iat=NOW), "writer": token(role="writer"),
}, indent=1))
