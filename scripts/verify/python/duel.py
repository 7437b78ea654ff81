"""Checks a duel, dice for two seats of the scheme duel-v1: `python3 verify.py evidence duel.json` comes here by itself.

The standard library and verify.py beside this file, nothing else.
"""
import hashlib
import hmac
import re

from verify import Report, Unusable, hex64, list_of, number, parse_json, record, text, time, time_key, truth, word, ID

# ---- 1. From the seeds to the dice --------------------------------------------------------------------------------------
# commitment    = hex(SHA-256(the server seed's 32 bytes))
# seat hash     = hex(SHA-256(duel id ":" seat ":" client seed))
# fallback hash = hex(SHA-256(the fallback seed's 64 hex digits))
# block k       = HMAC-SHA256(server seed bytes, be32(len W) W be32(len B) B be64(ply) be32(k))


def commitment_of(server_seed):
    return hashlib.sha256(bytes.fromhex(server_seed)).hexdigest()


def seat_hash_of(duel_id, seat, client_seed):
    return hashlib.sha256(f"{duel_id}:{seat}:{client_seed}".encode()).hexdigest()


def fallback_hash_of(seed):
    return hashlib.sha256(seed.encode()).hexdigest()


def message_of(white, black, ply, block):
    parts = []
    for seed in (white.encode(), black.encode()):
        parts += [len(seed).to_bytes(4, "big"), seed]
    return b"".join(parts) + ply.to_bytes(8, "big") + block.to_bytes(4, "big")


def block_of(server_seed, white, black, ply, block):
    return hmac.new(bytes.fromhex(server_seed), message_of(white, black, ply, block), hashlib.sha256).digest()


def draw_dice(block_at):
    """Three dice from blocks of bytes: those of 252 and more are rejected, so that each face is equally likely."""
    dice, k = [], 0
    while True:
        for byte in block_at(k):
            if byte < 252:
                dice.append(byte % 6 + 1)
            if len(dice) == 3:
                return dice
        k += 1


def roll_of(server_seed, white, black, ply):
    return draw_dice(lambda k: block_of(server_seed, white, black, ply, k))


# ---- 2. The document, field by field ------------------------------------------------------------------------------------

SEAT = record({"present": truth, "seeded": truth}, {
    "playerId": text("[!-~]{1,128}", "1 to 128 visible ASCII characters"), "clientSeedHash": hex64,
    "clientSeed": text("[!-~]{16,256}", "16 to 256 visible ASCII characters without a space"),
    "source": word("OWN", "COMMITTED", "FALLBACK"), "fallbackHash": hex64, "fallbackSeed": hex64,
})
DOCUMENT = record({
    "format": word("originals-duel-v1"), "duelId": ID, "scheme": word("duel-v1"), "mode": word("COMMITTED", "PLAIN"),
    "state": word("ENDED", "FORFEITED", "VOID"), "commitment": hex64, "serverSeed": hex64, "white": SEAT, "black": SEAT,
    "rolls": list_of(record({"ply": number(0, 9999), "dice": list_of(number(1, 6), 3, 3)}), 0, 10000),
    "graceSeconds": number(1, 300), "expirySeconds": number(1, 604800), "createTime": time, "endTime": time,
    "endReason": word("GAME_SERVER", "GRACE_PERIOD", "EXPIRED", "STORE_REPLACED"), "forfeitedBy": list_of(word("white", "black"), 0, 2),
    "eventNumber": number(1, 2**32 - 1),
}, {"lastPly": number(0, 9999)})

# ---- 3. The checks ------------------------------------------------------------------------------------------------------

CHECKS = {  # in this order; the first that fails gives the verdict its name
    "format": "the document is complete and well-formed, and the duel has ended",
    "commitment": "the server seed hashes to the commitment",
    "seats": "every client seed is the one its seat or the house was committed to, and every source and forfeit is called rightly",
    "order": "plies are 0, 1, 2, ... after both client seeds, and the end is one the rules know",
    "dice": "every roll follows from the seeds",
}


def check_duel(file_text, kept=None, last_ply=None):
    """The report on a document; kept is the commitment that the player wrote down before, last_ply the last one seen."""
    report = Report()
    report.failures = {check: [] for check in CHECKS}
    try:
        duel = parse_json(file_text)
        DOCUMENT(duel, "document")
    except Unusable as error:
        report.fail("format", str(error))
        report.verdict = "UNUSABLE (format)"
        return report
    white, black = duel["white"], duel["black"]
    check_commitment(duel, kept, report)
    check_seat(duel, "white", "black", report)
    check_seat(duel, "black", "white", report)
    check_forfeit(duel, report)
    check_order(duel, last_ply, report)
    if is_fixed(duel):
        check_dice(duel, report)

    for seat, other in (("white", "black"), ("black", "white")):
        if duel[seat].get("source") == "FALLBACK":
            report.notes.append(f"{seat} fell back to a seed of the house: it is not protected from the house together with {other}")
    if white.get("source") == black.get("source") == "OWN":
        report.notes.append("both client seeds were sent in clear: the seat that sent its own last is not protected from the house together with the other seat")
    if last_ply is None and is_fixed(duel):
        report.notes.append("give the number of the last ply that you saw with --last-ply; without it rolls that were cut off at the end are not missed")
    if kept is None:
        report.notes.append("give the commitment that you were shown before you played with --commitment; without it the file only agrees with itself")
    sources = [seat.get("source", "without a seed") for seat in (white, black)]
    count = "1 roll" if len(duel["rolls"]) == 1 else f"{len(duel['rolls'])} rolls"
    report.summary = f"{count}; white {sources[0]}, black {sources[1]}; {duel['state']} ({duel['endReason']})"
    first = next((check for check in CHECKS if report.failures[check]), None)
    if first:
        report.verdict = f"FAILED ({first})"
    else:
        report.verdict = "CONSISTENT, COMMITMENT NOT CONFIRMED" if kept is None else "VERIFIED"
    return report


def is_fixed(duel):
    return all("source" in duel[seat] and "clientSeed" in duel[seat] for seat in ("white", "black"))


def check_commitment(duel, kept, report):
    server_seed, claimed = duel["serverSeed"], duel["commitment"]
    computed, hint = commitment_of(server_seed), ""
    if server_seed in (claimed, kept):
        hint = "; the server seed given is a commitment: a hash was pasted in place of the server seed"
    elif fallback_hash_of(server_seed) == claimed:
        hint = "; the commitment is the hash of the 64 hex digits, and this scheme hashes the 32 raw bytes"
    if computed != claimed:
        report.fail("commitment", f"the server seed hashes to {computed}, and the commitment is {claimed}{hint}")
    if kept not in (None, claimed):
        report.fail("commitment", f"you kept the commitment {kept}, and this one is {claimed}: another duel, or another promise")


def check_seat(duel, name, other, report):
    seat, source = duel[name], duel[name].get("source")

    def bad(words):
        report.fail("seats", f"{name}: {words}")

    if ("clientSeed" in seat) != ("source" in seat):
        bad("a client seed and its source stand together or not at all")
        return
    if seat["seeded"] != (source in ("OWN", "COMMITTED")):
        bad("seeded says whether the seat brought a client seed of its own, and does not")
    if not seat["present"] and (seat["seeded"] or "clientSeedHash" in seat):
        bad("it sent something, and was never present")
    if duel["mode"] == "COMMITTED":
        check_committed(duel, name, other, bad)
    else:
        check_plain(seat, source, bad)


def check_committed(duel, name, other, bad):
    seat = duel[name]
    if "fallbackHash" in seat or "fallbackSeed" in seat:
        bad("there is no fallback in committed mode")
    if "source" not in seat:
        return
    if seat["source"] != "COMMITTED":
        bad(f"its client seed is {seat['source']} in committed mode")
    elif "clientSeedHash" not in seat or "clientSeedHash" not in duel[other]:
        bad("its client seed was opened before both seats had sent their hashes")
    else:
        if not re.fullmatch("[0-9a-f]{64}", seat["clientSeed"]):
            bad("its client seed is not 64 lower-case hex digits")
        computed = seat_hash_of(duel["duelId"], name, seat["clientSeed"])
        if computed != seat["clientSeedHash"]:
            bad(f"its client seed hashes to {computed}, and it had sent {seat['clientSeedHash']}")


def check_plain(seat, source, bad):
    if "clientSeedHash" in seat:
        bad("no hashes are sent in plain mode")
    if source == "COMMITTED":
        bad("its client seed is COMMITTED in plain mode")
    if "fallbackHash" not in seat or "fallbackSeed" not in seat:
        bad("its fallback seed or the hash of it is missing")
        return
    computed = fallback_hash_of(seat["fallbackSeed"])
    if computed != seat["fallbackHash"]:
        bad(f"its fallback seed hashes to {computed}, and {seat['fallbackHash']} was promised")
    if source == "FALLBACK" and seat["clientSeed"] != seat["fallbackSeed"]:
        bad("its client seed is called FALLBACK and is not the fallback seed")
    if source == "OWN" and seat["clientSeed"] == seat["fallbackSeed"]:  # which no seat could know before the end
        bad("its client seed is called OWN and is the fallback seed")


def check_forfeit(duel, report):
    forfeited, by = duel["state"] == "FORFEITED", duel["forfeitedBy"]

    def bad(words):
        report.fail("seats", words)

    if forfeited != (len(by) > 0):
        bad("a duel is FORFEITED when a seat forfeits, and only then")
    elif forfeited and duel["mode"] != "COMMITTED":
        bad("nobody forfeits in plain mode")
    elif forfeited:
        if len(set(by)) < len(by):
            bad("a seat forfeits twice")
        for name in ("white", "black"):
            if "clientSeedHash" not in duel[name]:
                bad(f"{name}: a duel is forfeited after both hashes, and this one is missing")
            if (name in by) == duel[name]["seeded"]:
                bad(f"{name}: a seat forfeits when it has not opened its client seed, and only then")


def check_order(duel, last_ply, report):
    fixed, state, reason, white, black = is_fixed(duel), duel["state"], duel["endReason"], duel["white"], duel["black"]

    def bad(words):
        report.fail("order", words)

    for i, roll in enumerate(duel["rolls"]):
        if roll["ply"] != i:
            bad(f"ply {roll['ply']} stands where ply {i} belongs")
    count = len(duel["rolls"])
    if duel.get("lastPly", count - 1) != count - 1:
        bad(f"lastPly is {duel['lastPly']}, and there are {count} rolls: some were left out")
    if last_ply is not None and last_ply >= count:
        bad(f"you have seen ply {last_ply}, and the rolls end before it")
    if duel["rolls"] and not fixed:
        bad("it was rolled before both client seeds were there")
    if white.get("source") == black.get("source") == "FALLBACK":
        bad("both seats fell back, and such a duel is void")
    if time_key(duel["endTime"]) < time_key(duel["createTime"]):
        bad("it ended before it was made")
    if state == "ENDED" and not (fixed and reason in ("GAME_SERVER", "EXPIRED")):
        bad(f"it cannot be ENDED by {reason} {'with' if fixed else 'without'} both client seeds")
    if state == "FORFEITED" and reason != "GRACE_PERIOD":
        bad(f"it cannot be FORFEITED by {reason}")
    if state == "VOID" and reason != "STORE_REPLACED" and fixed:
        bad(f"it cannot be VOID by {reason} with both client seeds")
    if duel["mode"] == "COMMITTED":
        silent = "clientSeedHash" not in white or "clientSeedHash" not in black
    else:
        silent = not white["seeded"] and not black["seeded"]
    if state == "VOID" and reason == "GRACE_PERIOD" and not silent:
        bad("it is VOID by GRACE_PERIOD, and the seats that had to speak did")


def check_dice(duel, report):
    def at(ply):
        return roll_of(duel["serverSeed"], duel["white"]["clientSeed"], duel["black"]["clientSeed"], ply)

    def plain(dice):
        return ",".join(map(str, dice))

    for roll in duel["rolls"]:
        ply, dice = roll["ply"], roll["dice"]
        right = at(ply)
        if right == dice:
            continue
        near = [n for n in (ply - 1, ply + 1) if n >= 0 and at(n) == dice]
        hint = f" (ply {near[0]} would give them: is the ply off by one?)" if near else ""
        report.fail("dice", f"ply {ply}: the dice are {plain(dice)}, and the seeds give {plain(right)}{hint}")
