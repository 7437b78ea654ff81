"""Makes internal/vectors/duel-v1.json out of duel.py: `python3 verify.py vectors duel-v1`. scripts/verify/js/duelvectors.js does
the same on its own; the two files must be equal to the byte."""
import hashlib
import json

import duel as d


def label_hash(label):
    return hashlib.sha256(f"duel-v1 vectors: {label}".encode()).hexdigest()


PUBLISHED = ("5b4c290e960e3c3a8c4cce633d38b04e136fae6c0e453f5a8dd3b9640157c7c6", "bot:team:anon:verifier-aa3534dd", "4c4bda73e3a467f691a6570ee047983b")
PLIES = [0, 1, 9, 10, 255, 256, 65535, 65536, 9999, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
TEXTS = [
    ("!" * 16, "~" * 16), ("a" * 17, "b" * 255), ("x" * 256, "y" * 256), (":" * 16, "white:black:0:0:"), ("\"\\/'<>&0123456789", "#" * 64),
    ("\u00e9" * 16, "\u00df\u00f1" * 8), ("\u20ac" * 16, "\u6f22\u5b57" * 8), ("\U0001f3b2" * 8, "\U0001f600a" * 6), ("e\u0301" * 8, "\u00e9" * 16), ("\u05d0" * 128, "\uffff" * 20),
]


def row(name, server_seed, white, black, ply, flags):
    return {"id": name, "flags": flags, "serverSeed": server_seed, "commitment": d.commitment_of(server_seed), "white": white, "black": black, "ply": str(ply),
            "dice": d.roll_of(server_seed, white, black, ply)}


def rows():
    server_seed, white, black = PUBLISHED
    yield from (row(f"published-{ply}", server_seed, white, black, ply, ["published"]) for ply in range(8))
    yield from (row(f"swapped-{ply}", server_seed, black, white, ply, ["swapped"]) for ply in range(4))
    for i in range(40):
        yield row(f"plain-{i}", label_hash(f"server seed {i}"), label_hash(f"white {i}"), label_hash(f"black {i}"), i % 5, [])
    for ply in PLIES:
        yield row(f"ply-{ply}", label_hash("server seed ply"), label_hash("white ply"), label_hash("black ply"), ply, ["extreme-ply"])
    for i, (white, black) in enumerate(TEXTS):
        for ply in (0, 7):
            yield row(f"text-{i}-{ply}", label_hash(f"server seed text {i}"), white, black, ply, ["ascii" if i < 5 else "unicode"])
    seeds = [label_hash("server seed rejected"), label_hash("white rejected"), label_hash("black rejected")]
    found, ply = 0, 0
    while found < 24:
        if max(d.block_of(*seeds, ply, 0)[:3]) >= 252:
            yield row(f"rejected-{ply}", *seeds, ply, ["rejected-byte"])
            found += 1
        ply += 1


def digests():
    """Blocks as they never come up: the dice that they would give, and how many are looked at."""
    def block(fill, *head):
        return bytes(head) + bytes([fill]) * (32 - len(head))

    def ends_in(fill, byte):
        return bytes([fill]) * 31 + bytes([byte])

    cases = [
        [block(0, 0, 1, 251)], [block(9, 252, 255, 251, 6)], [block(252), block(1, 2, 3)], [ends_in(255, 5), block(253), block(2)],
        [block(254), block(253), block(0, 4, 3, 2)], [ends_in(252, 251), block(0, 1, 2)],
    ] + [[block(b)] for b in range(0, 252, 25)]
    for blocks in cases:
        asked = set()

        def block_at(k, blocks=blocks, asked=asked):
            asked.add(k)
            return blocks[k]

        dice = d.draw_dice(block_at)
        yield {"blocks": [b.hex() for b in blocks], "looked": len(asked), "dice": dice}


def hashes():
    for i in range(10):
        for seat in ("white", "black"):
            duel_id, client_seed = f"{i:02d}-{label_hash(f'duel {i}')[:16]}", label_hash(f"{seat} hashed {i}")
            yield {"duelId": duel_id, "seat": seat, "clientSeed": client_seed, "clientSeedHash": d.seat_hash_of(duel_id, seat, client_seed),
                   "fallbackHash": d.fallback_hash_of(client_seed)}


def vectors_file():
    """The file, one row a line. It is ASCII."""
    def lines(all_rows):
        return ",\n".join(json.dumps(one, separators=(",", ":")) for one in all_rows)

    return ('{"scheme":"duel-v1","source":"scripts/verify/js/verify.js vectors duel-v1",\n"rows":[\n' + lines(rows()) + '\n],\n"digests":[\n' + lines(digests())
            + '\n],\n"hashes":[\n' + lines(hashes()) + "\n]}\n")
