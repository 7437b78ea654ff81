"""Makes internal/vectors/crash-v1.json out of crash.py: `python3 crash.py vectors`. Nothing here is random: hashes and salts
are hashes of labels. scripts/verify/js/crashvectors.js does the same on its own; the two files must be equal to the byte.
"""
import hashlib
import json

from crash import before, crash_of, digest_of, first_us, payout_of, point_of


def hash_of(label):
    """64 hex digits."""
    return hashlib.sha256(f"crash-v1 vectors: {label}".encode()).hexdigest()


WALKED = 20000  # rounds up to this number show the terminal
NUMBERS = [1, 2, 9, 10, 99, 100, 255, 256, 999, 1000, 65535, 65536, 99999, 100000, 999999, 1000000, 9999999, 10000000, 2**31 - 1, 2**31,
           2**32 - 2, 2**32 - 1]
TABLES = ["a", "0", "-", "z9", "main", "main-2", "-" * 32, "a" * 32, "0" * 32, "abcdefghijklmnopqrstuvwxyz-01234", "high-rollers-1000000"]
SALTS = ["0" * 64, "f" * 64, "0000000000000000004d6ec16dafe9d8370958664c1dc422f452892264c59526", "0123456789abcdef" * 4, "0" * 62 + "ff"]
# rounds of drand's quicknet with their signatures: the salt is the SHA-256 of the signature
BEACONS = [
    ("27798178", "b18fa6dc92304844fc4e868d708953e6b628b3f88d4381249d32264df1bfe5bc20aa0905e57fe54063010881767fd56d"),
    ("27798188", "94eb0ae0069459bae7e748c109c6955a6d2d0c87b0a239c269970dbf3ec359292f4f74abf1c63915eb01e453aa0e5ee5"),
    ("27798200", "84bc2ddf291e7996c6c9d6d791e24d9e3aa69ea279e220d755d0a0222b900eac6c81f9473ab755d751ed07a473be98c7"),
]


def row(name, table, number, link, salt, flags, **more):
    digest = digest_of(link, table, number, salt)
    terminal = {"terminal": before(link, number)} if number <= WALKED else {}
    return {"id": name, "flags": flags, "table": table, "number": number, "hash": link, "salt": salt, **more, **terminal,
            "digest": digest, "h": digest[:13], "crashE2": crash_of(link, table, number, salt)}


def search(name, count, flag, wanted):
    """The first so many rounds of a chain whose crash point is wanted; their numbers only grow."""
    link, salt, found, number = hash_of(f"link {name}"), hash_of(f"salt {name}"), [], 0
    while len(found) < count:
        number += 1
        if crash_of(link, "main", number, salt) == wanted:
            found.append(row(f"{name}-{number}", "main", number, link, salt, [flag]))
    return found


def rows():
    result = [row(f"plain-{i}", "main", i + 1, hash_of(f"link {i}"), hash_of(f"salt {i}"), []) for i in range(40)]
    end, length = hash_of("end of the chain"), 30
    result += [row(f"chain-{n}", "chain", n, before(end, length - n), hash_of("salt of the chain"), ["chain"]) for n in range(1, length + 1)]
    result += [row(f"number-{n}", "main", n, hash_of("link number"), hash_of("salt number"), ["extreme-number"]) for n in NUMBERS]
    result += [row(f"table-{i}", table, 7, hash_of(f"link table {i}"), hash_of("salt table"), ["longest-table" if len(table) == 32 else "table"])
               for i, table in enumerate(TABLES)]
    result += [row(f"salt-{i}", "main", 11, hash_of(f"link salt {i}"), salt, ["salt"]) for i, salt in enumerate(SALTS)]
    result += [row(f"link-{i}", "main", 3, link, hash_of(f"salt link {i}"), ["extreme-link"]) for i, link in enumerate(["0" * 64, "f" * 64, "0" * 63 + "1"])]
    result += [row(f"beacon-{number}", "beacon", 5, hash_of(f"link beacon {number}"), hashlib.sha256(bytes.fromhex(signature)).hexdigest(), ["beacon"],
                   beaconRound=number, beaconSignature=signature) for number, signature in BEACONS]
    result += search("instant", 12, "instant-crash", 100)
    result += search("lowest-win", 6, "lowest-win", 101)
    result += search("maximum", 6, "maximum", 1_000_000)
    result += search("double", 4, "two", 200)
    return result


def words():
    """52-bit words at the borders of crash points: the last that loses and the first that reaches each."""
    top = 2**52
    border = {0, 1, top - 1, top - 2, top // 2, top // 2 - 1, top - 99, top - 100}
    for m in (101, 102, 110, 150, 199, 200, 201, 500, 1000, 9999, 10000, 99999, 100000, 500000, 999998, 999999, 1000000, 1000001, 1000002):
        ways = 99 * top // (m - 1)  # P(crash >= m) = floor(99 * 2^52 / (m-1)) / 2^52
        border |= {top - ways - 1, top - ways}
    return [{"h": f"{h:013x}", "crashE2": point_of(h)} for h in sorted(border)]


def bets():
    result = []
    for stake in (1, 3, 99, 100, 101, 12345, 90071992547):
        for target_e2 in (101, 150, 199, 200, 333, 10000, 1000000):
            payout = payout_of(stake, target_e2)
            if payout < 2**53:
                result.append({"stake": str(stake), "targetE2": target_e2, "multiplierE4": str(target_e2 * 100), "payout": str(payout)})
    return result


GROWTH = [100, 101, 102, 103, 110, 125, 150, 199, 200, 201, 250, 271, 272, 300, 500, 999, 1000, 1001, 2500, 9999, 10000, 65536, 99999, 100000,
          123456, 271828, 500000, 999999, 1000000, 1000001]


def vectors_file():
    """The file, one row a line."""
    growth = [{"multiplierE2": m, "firstUs": first_us(m)} for m in GROWTH]

    def lines(items):
        return ",\n".join(json.dumps(one, separators=(",", ":")) for one in items)

    return ('{"scheme":"crash-v1","source":"scripts/verify/js/crash.js vectors",\n'
            f'"rows":[\n{lines(rows())}\n],\n"words":[\n{lines(words())}\n],\n"bets":[\n{lines(bets())}\n],\n"growth":[\n{lines(growth)}\n]}}\n')
