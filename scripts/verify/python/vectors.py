"""Makes internal/vectors/originals-v1.json out of verify.py: `python3 verify.py vectors`. The same rows as
scripts/verify/js/vectors.js makes, worked out again; a test compares the two to the byte. Nothing here is random.

  python3 vectors.py check FILE     derives every row of FILE again: prints the ids that differ, then "N passed, M failed"
"""
import json
import sys

sys.dont_write_bytecode = True
import verify as v  # noqa: E402  (beside this file)

# Where the words that uniform rejects are found (by trying every nonce from 1000000000 on): server seed digest("server seed rejected-word").
REJECTED = {
    "dice": [1001151058, 1001218995, 1001348173, 1001509396, 1001826895, 1001905506, 1002574044, 1002997861],
    "roulette": [1491403930, 1642669445, 1850040744, 3052097087, 3082418833],
    "mines": [1236361709, 1263737224, 1267329424, 1273438829, 1291043007, 1300703216, 1338196921, 1379898895, 1390780415, 1060955063, 1646500050, 2245720737],
}
# Where client seed "limbo" meets the largest outcome, and server seed digest("server seed limbo").
LIMBO_HIGH = [7817, 19972, 29507, 37821, 47031, 90256]

STAKES = ["1", "7", "100", "999", "1000", "12345", "500000", "1000000"]
EDGE_CLIENT_SEEDS = [
    "x", "!", "~", "a:b:c", ":", "0:1:2", "\"\\/'<>&", "z" * 59, "y" * 60, "Y" * 60, "%" * 60, "w" * 64, "#" * 64, ":" * 64,
    "".join(map(chr, range(0x21, 0x61))),
]
EDGE_NONCES = [0, 1, 9, 10, 4294967293, 4294967294]
DICE_EDGES = [("OVER", 199), ("OVER", 200), ("OVER", 9997), ("OVER", 9998), ("UNDER", 1), ("UNDER", 2), ("UNDER", 9799), ("UNDER", 9800), ("UNDER", 9724), ("OVER", 5050), ("UNDER", 5000)]


def digest(label):
    return v.commitment_of(f"originals-v1 vectors: {label}")


def choose(label, n):
    return int(digest(label)[:8], 16) % n


def dice_bets():
    bets = [{"target": target, "direction": direction} for direction, target in DICE_EDGES for _ in range(3)]
    for i in range(60):
        if choose(f"dice direction {i}", 2):
            bets.append({"target": 199 + choose(f"dice over {i}", 9800), "direction": "OVER"})
        else:
            bets.append({"target": 1 + choose(f"dice under {i}", 9800), "direction": "UNDER"})
    return bets


def limbo_bets():
    bets = [{"targetE2": target} for target in (101, 102, 200, 9900, 999999, 1000000) for _ in range(3)]
    return bets + [{"targetE2": 101 + choose(f"limbo {i}", (100, 1000, 10000, 999900)[i % 4])} for i in range(80)]


LEGAL_CHIPS = [{"kind": kind, "numbers": list(numbers)} for kind, numbers in sorted(v.CHIPS, key=lambda key: f"{key[0]} {','.join(map(str, key[1]))}")]


def roulette_bets():
    rare = [chip for chip in LEGAL_CHIPS if not chip["numbers"] or chip["kind"] in ("TRIO", "DOZEN", "COLUMN")]
    bets = [{"chips": [{**chip, "amount": STAKES[i % len(STAKES)]}]} for i, chip in enumerate(LEGAL_CHIPS + rare + rare)]
    for i in range(40):
        chips = [{**LEGAL_CHIPS[choose(f"chip {i} {j}", len(LEGAL_CHIPS))], "amount": STAKES[choose(f"amount {i} {j}", len(STAKES))]} for j in range(2 + i % 31)]
        if i % 5 == 0:
            chips[-1] = chips[0]  # equal chips are added up
        bets.append({"chips": chips})
    return bets


def mines_bets():
    bets = []
    for count in range(1, 25):
        safe = 25 - count
        for tiles, hit in ((safe, False), (1, False), ((safe + 1) // 2, False), (0, True), (safe - 1, True)):
            bets.append({"mineCount": count, "open": tiles, "hit": hit})
    return bets


def pick_tiles(bet, signature, label):
    """Opens tiles in order, from a tile of the label's choice on."""
    board = v.mines_board(v.Stream(signature), bet["mineCount"])
    start = choose(f"{label} first tile", 25)
    tiles = [(start + i) % 25 for i in range(25)]
    picks = [tile for tile in tiles if tile not in board][:bet["open"]]
    if bet["hit"]:
        picks.append(next(tile for tile in tiles if tile in board))
    return {"mineCount": bet["mineCount"], "picks": picks}


def limbo_raw(signature):
    """The outcome before it is held between 100 and 1000000."""
    return 99 * 2**64 // (2**64 - v.Stream(signature).word64())


def flags_of(game, row, shown, signature, bytes_read):
    client_seed, nonce = row["clientSeed"], row["nonce"]
    flags = []

    def add(condition, flag):
        if condition:
            flags.append(flag)

    add(nonce == 0, "nonce-0")
    add(nonce == 4294967294, "nonce-max")
    for n in (1, 59, 60, 64):
        add(len(client_seed) == n, "client-seed-1-byte" if n == 1 else f"client-seed-{n}-bytes")
    add(":" in client_seed, "client-seed-with-colons")
    add(len(f"{row['serverSeed']}:{client_seed}:{nonce}") > 135, "second-block")
    add(bytes_read > 4 * {"dice": 1, "limbo": 2, "roulette": 1, "mines": shown.get("mineCount")}[game], "rejected-word")
    if game == "dice":
        add((shown["direction"], shown["target"]) in {("OVER", 199), ("OVER", 9998), ("UNDER", 1), ("UNDER", 9800)}, "extreme-target")
        add(shown["roll"] == shown["target"], "dice-tie-" + shown["direction"].lower())
    elif game == "limbo":
        raw = limbo_raw(signature)
        add(shown["targetE2"] in (101, 1000000), "extreme-target")
        add(raw < 100, "limbo-clamped-low")
        add(raw >= 1000000, "limbo-high")
        add(shown["outcomeE2"] == shown["targetE2"], "limbo-tie")
    elif game == "roulette":
        add(shown["pocket"] == 0, "zero-pocket")
        add(len(shown["chips"]) == 1, "chip-" + shown["chips"][0]["kind"].lower().replace("_", "-"))
        add(len(shown["chips"]) > 1, "multi-chip")
    else:
        add(not shown["hitMine"] and len(shown["picks"]) == 25 - shown["mineCount"], "last-tile")
    return flags


def make_row(game, row_id, server_seed, client_seed, nonce, wanted, stake):
    signature = v.signature_of(server_seed, client_seed, nonce)
    bet = pick_tiles(wanted, signature, row_id) if game == "mines" else wanted
    if game == "roulette":
        stake = v.chips_total(bet["chips"])
    stream = v.Stream(signature)
    drawn, flag, multiplier, payout = v.GAMES[game].play(bet, int(stake), stream)
    shown = {**bet, **drawn, **flag}
    row = {
        "id": row_id, "flags": [], "serverSeed": server_seed, "clientSeed": client_seed, "nonce": nonce, "commitment": v.commitment_of(server_seed),
        "signature": signature, "game": game, "stake": str(stake), game: shown, "multiplierE4": str(multiplier), "payout": str(payout),
    }
    row["flags"] = flags_of(game, row, shown, signature, stream.at)
    return row


def game_rows(game, bets):
    rows = []

    def add(server_seed, client_seed, nonce, bet, stake=None):
        row_id = f"{game}-{len(rows) + 1:04d}"
        rows.append(make_row(game, row_id, server_seed, client_seed, nonce, bet, stake or STAKES[choose(f"{row_id} stake", len(STAKES))]))

    for i, bet in enumerate(bets):
        add(digest(f"server seed {game} {i}"), digest(f"client seed {game} {i}")[:32], choose(f"nonce {game} {i}", 100000), bet)
    for i, client_seed in enumerate(EDGE_CLIENT_SEEDS):
        add(digest(f"server seed {game} edge {i}"), client_seed, (4294967294, 1000000000, i)[i % 3], bets[choose(f"{game} edge {i}", len(bets))])
    for server_seed in ("0" * 64, "f" * 64):
        for i, nonce in enumerate(EDGE_NONCES):
            add(server_seed, "edge-of-the-nonce", nonce, bets[choose(f"{game} nonce {i}", len(bets))])
    for i, nonce in enumerate(REJECTED.get(game, [])):
        bet = {"mineCount": 24 - i % 2, "open": 1, "hit": False} if game == "mines" else bets[choose(f"{game} rejected {i}", len(bets))]
        add(digest("server seed rejected-word"), "rejected-word", nonce, bet)
    if game == "dice":
        for row in rows[40:46]:  # a tie loses either way
            roll = row["dice"]["roll"]
            for direction, legal in (("OVER", 199 <= roll <= 9998), ("UNDER", 1 <= roll <= 9800)):
                if legal:
                    add(row["serverSeed"], row["clientSeed"], row["nonce"], {"target": roll, "direction": direction})
    if game == "limbo":
        server_seed = digest("server seed limbo")
        for i, nonce in enumerate(LIMBO_HIGH):
            add(server_seed, "limbo", nonce, {"targetE2": (1000000, 999999, 101)[i % 3]})
        low = [nonce for nonce in range(500) if limbo_raw(v.signature_of(server_seed, "limbo", nonce)) < 100]
        for nonce in low[:4]:
            add(server_seed, "limbo", nonce, {"targetE2": 101})
        for row in rows[30:40]:
            if row["limbo"]["outcomeE2"] > 100:
                add(row["serverSeed"], row["clientSeed"], row["nonce"], {"targetE2": row["limbo"]["outcomeE2"]})
    if game == "mines":
        for count in (12, 13):
            add(digest("server seed mines"), "largest-payout-up-to-2^53-1", count, {"mineCount": count, "open": 25 - count, "hit": False}, "1749549269")
    if game == "roulette":
        for row in [row for row in rows if row["roulette"]["pocket"] == 0][:3]:
            for kind, numbers in (("STRAIGHT", [0]), ("RED", []), ("FIRST_FOUR", [0, 1, 2, 3])):
                add(row["serverSeed"], row["clientSeed"], row["nonce"], {"chips": [{"kind": kind, "numbers": numbers, "amount": "1000"}]})
    return rows


def limbo_words():
    """Words around the thresholds of limbo: the least that reaches an outcome, with its neighbours, and both ends."""
    top = 2**64
    words = {0, 1, 2**63, top - 100, top - 99, top - 98, top - 2, top - 1}
    for target in (101, 102, 103, 150, 200, 201, 1000, 10000, 100000, 999999, 1000000):
        least = top - 99 * top // target
        words |= {least - 1, least, least + 1}
    return [{"v": str(word), "outcomeE2": v.limbo_outcome_e2(word)} for word in sorted(words)]


def vectors_file():
    """The file, one row a line."""
    def lines(rows):
        return ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)

    bets = {"dice": dice_bets(), "limbo": limbo_bets(), "roulette": roulette_bets(), "mines": mines_bets()}
    rows = [row for game in bets for row in game_rows(game, bets[game])]
    return ('{"scheme":"originals-v1","source":"scripts/verify/js/verify.js vectors",\n"rows":[\n' + lines(rows)
            + '\n],\n"limboWords":[\n' + lines(limbo_words()) + "\n]}\n")


def check_row(row):
    """Whether every value of a row follows from its seeds and its bet."""
    game, shown = row["game"], row[row["game"]]
    bet = {"mineCount": shown["mineCount"], "picks": shown["picks"]} if game == "mines" else shown
    signature = v.signature_of(row["serverSeed"], row["clientSeed"], row["nonce"])
    if game == "roulette" and v.chips_total(bet["chips"]) != int(row["stake"]):
        return False
    drawn, flag, multiplier, payout = v.GAMES[game].play(bet, int(row["stake"]), v.Stream(signature))
    right = {"commitment": v.commitment_of(row["serverSeed"]), "signature": signature, "multiplierE4": str(multiplier), "payout": str(payout)}
    return all(row[key] == right[key] for key in right) and all(shown[key] == value for key, value in {**drawn, **flag}.items())


def check(file):
    with open(file, encoding="utf-8") as opened:
        vectors = json.load(opened)
    rows, words = vectors["rows"], vectors["limboWords"]
    failed = [row["id"] for row in rows if not check_row(row)]
    failed += [f"limboWord {row['v']}" for row in words if v.limbo_outcome_e2(int(row["v"])) != row["outcomeE2"]]
    for row_id in failed:
        print(f"differs: {row_id}")
    print(f"{len(rows) + len(words) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__" and sys.argv[1:2] == ["check"]:
    sys.exit(check(sys.argv[2]))
