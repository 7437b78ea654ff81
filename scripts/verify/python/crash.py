#!/usr/bin/env python3
"""Checks rounds of a crash table, as GET /v1/crash/tables/TABLE/rounds answers them, against the chain's terminal.

    python3 crash.py ROUNDS.json --terminal HEX

ROUNDS.json holds one page, one round, or several of them one after the other. The terminal is the one that you noted
before you played; without it the verdict is CONSISTENT. Standard library only. Exit status 0 only when all holds.
"""
import hashlib
import hmac
import json
import re
import sys

HEX = re.compile(r"[0-9a-f]{64}")
MAX_E2 = 1_000_000


def link_before(link):
    return hashlib.sha256(link).digest()


def crash_point_e2(link, table, number, salt):
    """crash-v1: the first 52 bits of HMAC-SHA256(link, table:number:salt), in whole numbers."""
    digest = hmac.new(link, f"{table}:{number}:{salt}".encode(), hashlib.sha256).hexdigest()
    h = int(digest[:13], 16)
    return min(max((100 * 2**52 - h) // (2**52 - h), 100), MAX_E2)


def no_twins(pairs):
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def read_rounds(text):
    decoder, at, rounds = json.JSONDecoder(object_pairs_hook=no_twins), 0, []
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        page, at = decoder.raw_decode(text, at)
        rounds += page["rounds"] if "rounds" in page else [page]
    return sorted((r for r in rounds if r["state"] != "OPEN"), key=lambda r: r["number"])


def salt_of(r):
    """The salt of a round, and what was not checked of it."""
    beacon = r.get("beacon")
    if beacon:
        if hashlib.sha256(bytes.fromhex(beacon["signature"])).hexdigest() != beacon["randomness"]:
            raise ValueError(f"round {r['number']}: the randomness is not the hash of the beacon's signature")
        return beacon["randomness"], "the BLS signature of the beacon was not checked here: ask drand"
    salt = r["salt"]
    if salt["kind"] == "SELF_CHOSEN":
        return salt["value"], "the salt is self-chosen: the operator could have chosen these outcomes"
    return salt["value"], f"that the salt is of {salt['kind']} {salt['named']} was not checked here: look it up"


def check_bet(r):
    bet = r.get("bet")
    if not bet or bet["state"] != "SETTLED":
        return
    crash, stake, payout = bet["crash"], int(bet["stake"]["amount"]), int(bet["payout"]["amount"])
    target = crash["cashOutE2"] or crash["autoCashOutE2"]
    want = stake * target // 100 if target <= r["crashE2"] else 0
    if payout != want:
        raise ValueError(f"round {r['number']}: a stake of {stake} at {target} pays {want}, not {payout}")


def check(rounds, terminal):
    """Raises ValueError at the first thing that is wrong; returns what could not be checked."""
    if not rounds:
        raise ValueError("there is no round that has ended")
    notes, before, number = set(), None, 0
    for r in rounds:
        if not HEX.fullmatch(r["hash"]) or r["terminal"] != rounds[0]["terminal"] or r["table"] != rounds[0]["table"]:
            raise ValueError(f"round {r['number']}: hash, terminal or table")
        if number and r["number"] != number + 1:
            raise ValueError(f"rounds between {number} and {r['number']} are missing")
        link = bytes.fromhex(r["hash"])
        if before is None:
            walked = link
            for _ in range(r["number"]):
                walked = link_before(walked)
            if walked.hex() != (terminal or r["terminal"]):
                raise ValueError(f"round {r['number']}: its hash does not lead to the terminal")
        elif link_before(link) != before:
            raise ValueError(f"round {r['number']}: its hash does not lead to that of the round before")
        salt, note = salt_of(r)
        notes.add(note)
        point = crash_point_e2(link, r["table"], r["number"], salt)
        if point != r["crashE2"]:
            raise ValueError(f"round {r['number']}: the crash point is {point}, not {r['crashE2']}")
        check_bet(r)
        before, number = link, r["number"]
    return notes


def main(args):
    terminal = args[args.index("--terminal") + 1] if "--terminal" in args else None
    if not args or terminal is not None and not HEX.fullmatch(terminal):
        print(__doc__)
        return 2
    try:
        with open(args[0], encoding="utf-8") as file:
            rounds = read_rounds(file.read())
        notes = check(rounds, terminal)
    except (ValueError, KeyError, TypeError, OSError) as problem:
        print(f"FAILED: {problem}")
        return 1
    voids = sum(r["state"] == "VOID" for r in rounds)
    print(f"rounds {rounds[0]['number']} to {rounds[-1]['number']} of {rounds[0]['table']}, {voids} of them void")
    for note in sorted(notes):
        print(f"note: {note}")
    print("VERIFIED" if terminal else "CONSISTENT, TERMINAL NOT CONFIRMED")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
