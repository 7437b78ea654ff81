#!/usr/bin/env python3
"""Checks bets of the scheme originals-v1 without trusting the house. One file, the standard library only:

  python3 verify.py evidence FILE [--commitment HEX] [--last-nonce N | --last-ply N]
  python3 verify.py round --server-seed HEX --client-seed TEXT --nonce N [--commitment HEX] [--stake UNITS]
                    --dice '{"target":5050,"direction":"OVER"}' | --limbo '{"targetE2":200}' |
                    --roulette '{"chips":[{"kind":"STRAIGHT","numbers":[17],"amount":"100"}]}' | --mines '{"mineCount":3,"picks":[0,1]}'

An evidence file of dice for two seats is checked by duel.py beside this file.
Everything is counted in whole numbers: money in the currency's smallest unit, multipliers in 1/10000 (E4).
"""
import datetime
import hashlib
import json
import re
import sys
from math import comb

# ---- 1. From the seeds to a stream of numbers -------------------------------------------------------------------------
# commitment = hex(SHA3-256(server seed text))                the 64 hex digits are hashed as text, not as 32 bytes
# signature  = hex(SHA3-256(server seed text ":" client seed ":" nonce))
# stream     = SHAKE256(signature text), read 4 or 8 bytes at a time, big-endian


def commitment_of(server_seed):
    return hashlib.sha3_256(server_seed.encode()).hexdigest()


def signature_of(server_seed, client_seed, nonce):
    return hashlib.sha3_256(f"{server_seed}:{client_seed}:{nonce}".encode()).hexdigest()


class Stream:
    """The endless SHAKE256 output of a signature."""

    def __init__(self, signature):
        self.shake = hashlib.shake_256(signature.encode())
        self.have = self.shake.digest(128)
        self.at = 0

    def _take(self, count):
        if self.at + count > len(self.have):
            self.have = self.shake.digest(2 * len(self.have))  # a longer output begins with the shorter one
        self.at += count
        return int.from_bytes(self.have[self.at - count:self.at], "big")

    def word32(self):
        return self._take(4)

    def word64(self):
        return self._take(8)


def uniform(stream, n):
    """A number 0..n-1, each equally likely: words at or above the largest multiple of n are drawn again."""
    limit = 2**32 // n * n
    word = stream.word32()
    while word >= limit:
        word = stream.word32()
    return word % n


# ---- 2. The games -----------------------------------------------------------------------------------------------------
# problem(bet) says why the rules do not allow a bet, or "".
# play(bet, stake, stream) gives (what was drawn, the flag that tells how it went, multiplier, payout), 0 and 0 when lost.


def payout_of(stake, multiplier_e4):
    return stake * multiplier_e4 // 10000


class Dice:
    """roll = uniform(10000). OVER t wins if roll > t, UNDER t if roll < t. With w winning rolls it pays floor(99000000 / w)."""

    @staticmethod
    def winning_rolls(bet):
        return 9999 - bet["target"] if bet["direction"] == "OVER" else bet["target"]

    @staticmethod
    def problem(bet):
        w = Dice.winning_rolls(bet)
        return "" if 1 <= w <= 9800 else f"{bet['direction']} {bet['target']} has {w} winning rolls; 1 to 9800 are allowed"

    @staticmethod
    def play(bet, stake, stream):
        roll = uniform(stream, 10000)
        win = roll > bet["target"] if bet["direction"] == "OVER" else roll < bet["target"]
        multiplier = 99000000 // Dice.winning_rolls(bet) if win else 0
        return {"roll": roll}, {"win": win}, multiplier, payout_of(stake, multiplier)


def limbo_outcome_e2(v):
    """The outcome of a 64-bit word in hundredths: floor(99 * 2^64 / (2^64 - v)), held between 100 and 1000000."""
    return max(100, min(1000000, 99 * 2**64 // (2**64 - v)))


class Limbo:
    """It wins if the outcome is at least the target, and pays the target."""

    @staticmethod
    def problem(bet):
        return ""

    @staticmethod
    def play(bet, stake, stream):
        outcome = limbo_outcome_e2(stream.word64())
        win = outcome >= bet["targetE2"]
        multiplier = bet["targetE2"] * 100 if win else 0
        return {"outcomeE2": outcome}, {"win": win}, multiplier, payout_of(stake, multiplier)


RED = {1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36}


def _all_chips():
    """Every legal chip: (kind, numbers) -> the pockets it covers."""
    chips = {}

    def chip(kind, numbers, covered=None):
        chips[kind, tuple(numbers)] = set(numbers if covered is None else covered)

    for n in range(37):
        chip("STRAIGHT", [n])
    for a in range(37):
        for b in range(a + 1, 37):
            beside = b == a + 1 and a % 3 != 0
            below = b == a + 3 and a != 0
            at_zero = a == 0 and b <= 3
            if beside or below or at_zero:
                chip("SPLIT", [a, b])
    for n in range(1, 37, 3):
        chip("STREET", range(n, n + 3))
        if n < 34:
            chip("SIX_LINE", range(n, n + 6))
            chip("CORNER", [n, n + 1, n + 3, n + 4])
            chip("CORNER", [n + 1, n + 2, n + 4, n + 5])
    chip("TRIO", [0, 1, 2])
    chip("TRIO", [0, 2, 3])
    chip("FIRST_FOUR", [0, 1, 2, 3])
    for i in (1, 2, 3):
        chip("DOZEN", [i], range(12 * i - 11, 12 * i + 1))
        chip("COLUMN", [i], range(i, 37, 3))
    everything = set(range(1, 37))
    chip("RED", [], RED)
    chip("BLACK", [], everything - RED)
    chip("ODD", [], range(1, 37, 2))
    chip("EVEN", [], range(2, 37, 2))
    chip("LOW", [], range(1, 19))
    chip("HIGH", [], range(19, 37))
    return chips


CHIPS = _all_chips()


def covered_by(chip):
    return CHIPS.get((chip["kind"], tuple(chip["numbers"])))


def chips_total(chips):
    return sum(int(chip["amount"]) for chip in chips)


class Roulette:
    """pocket = uniform(37). A chip on n pockets returns 36/n times its amount, stake included; the stake is the sum of the chips."""

    @staticmethod
    def problem(bet):
        for chip in bet["chips"]:
            if covered_by(chip) is None:
                return f"there is no chip {chip['kind']} on [{','.join(map(str, chip['numbers']))}]"
        return ""

    @staticmethod
    def play(bet, stake, stream):
        pocket = uniform(stream, 37)
        total = chips_total(bet["chips"])
        payout = sum(int(chip["amount"]) * 36 // len(covered_by(chip)) for chip in bet["chips"] if pocket in covered_by(chip))
        return {"pocket": pocket}, {}, 10000 * payout // total if total else 0, payout


def mines_multiplier_e4(mine_count, k):
    """After k safe picks: floor(9900 * C(25,k) / C(25-m,k)); without a pick there is nothing to cash out."""
    return 9900 * comb(25, k) // comb(25 - mine_count, k) if k else 0


def mines_board(stream, mine_count):
    """The mines, drawn one by one out of the tiles 0..24 that are left, which keep their order."""
    tiles = list(range(25))
    return [tiles.pop(uniform(stream, len(tiles))) for _ in range(mine_count)]


class Mines:
    @staticmethod
    def problem(bet):
        most = 25 - bet["mineCount"]
        max_picks = bet.get("maxPicks", most)
        if max_picks > most:
            return f"maxPicks {max_picks} with {bet['mineCount']} mines: only {most} tiles are safe"
        if len(bet["picks"]) > max_picks:
            return f"{len(bet['picks'])} picks, and the round ends after {max_picks}"
        return "" if len(set(bet["picks"])) == len(bet["picks"]) else "a tile is picked twice"

    @staticmethod
    def play(bet, stake, stream):
        board = mines_board(stream, bet["mineCount"])
        lost = any(tile in board for tile in bet["picks"])
        multiplier = 0 if lost else mines_multiplier_e4(bet["mineCount"], len(bet["picks"]))
        return {"mines": board}, {"hitMine": lost}, multiplier, payout_of(stake, multiplier)


GAMES = {"dice": Dice, "limbo": Limbo, "roulette": Roulette, "mines": Mines}

# ---- 3. Strict JSON ---------------------------------------------------------------------------------------------------
# Of two equal keys json keeps the last one in silence, so a file could show one value to a person and another to a
# program. This reader refuses that, and numbers that are not whole.


class Unusable(Exception):
    pass


def parse_json(text):
    def unique(pairs):
        result = {}
        for key, value in pairs:
            if key in result:
                raise Unusable(f"not strict JSON: the key {quote(key)} stands twice")
            result[key] = value
        return result

    def whole(digits):
        if not re.fullmatch("0|[1-9][0-9]{0,9}", digits):
            raise Unusable(f"not strict JSON: {digits[:24]} is not a whole number of at most ten digits")
        return int(digits)

    try:
        result = json.loads(text, object_pairs_hook=unique, parse_int=whole, parse_float=whole, parse_constant=whole)
        json.dumps(result, ensure_ascii=False).encode()  # half a character, as in "\ud800", does not pass
        return result
    except (ValueError, RecursionError) as error:
        raise Unusable(f"not strict JSON: {error}") from None


def quote(value):
    """Shows text from a file so that it cannot play tricks on a terminal."""
    return json.dumps(value, separators=(",", ":"))[:90]


# ---- 4. The evidence document, field by field -------------------------------------------------------------------------
# Each of these makes a function that takes a value and the name of its place, and refuses the document if it does not fit.

MISSING = object()


def need(ok, at, wants, value):
    if not ok:
        raise Unusable(f"{at}: wants {wants}, got {'nothing' if value is MISSING else quote(value)}")


def text(pattern, wants):
    return lambda value, at: need(isinstance(value, str) and re.fullmatch(pattern, value), at, wants, value)


def word(*words):
    return lambda value, at: need(isinstance(value, str) and value in words, at, " or ".join(words), value)


def number(low, high):
    return lambda value, at: need(type(value) is int and low <= value <= high, at, f"a number from {low} to {high}", value)


def truth(value, at):
    need(isinstance(value, bool), at, "true or false", value)


def decimal(low, high):
    def check(value, at):
        ok = isinstance(value, str) and re.fullmatch("0|[1-9][0-9]{0,15}", value) and low <= int(value) <= high
        need(ok, at, f"a decimal string from {low} to {high}", value)
    return check


def list_of(item, low, high):
    def check(value, at):
        need(isinstance(value, list) and low <= len(value) <= high, at, f"a list of {low} to {high}", value)
        for i, element in enumerate(value):
            item(element, f"{at}[{i}]")
    return check


def record(fields, optional=None):
    optional = optional or {}

    def check(value, at):
        need(isinstance(value, dict), at, "an object", value)
        for key in value:
            if key not in fields and key not in optional:
                raise Unusable(f"{at}: unknown key {quote(key)}")
        for key, field in fields.items():
            field(value.get(key, MISSING), f"{at}.{key}")
        for key, field in optional.items():
            if key in value:
                field(value[key], f"{at}.{key}")
    return check


def hex64(value, at):
    """64 lower-case hex digits; names the usual mistake."""
    if isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value):
        return
    mistake = ""
    if isinstance(value, str):
        if value != value.strip(" \t\r\n"):
            mistake = ": there is stray white space around it"
        elif value[:2] in ("0x", "0X"):
            mistake = ": leave the 0x out"
        elif len(value) != 64:
            mistake = f": these are {len(value)} characters"
        elif re.search("[A-F]", value):
            mistake = ": upper-case digits would hash to something else"
        else:
            mistake = ": not all of these are hex digits"
    raise Unusable(f"{at}: wants 64 lower-case hex digits, got {'nothing' if value is MISSING else quote(value)}{mistake}")


def time(value, at):
    wants = "a time like 2025-01-31T23:59:59.123Z"
    text("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.]([0-9]{3}|[0-9]{6}|[0-9]{9}))?Z", wants)(value, at)
    try:
        datetime.datetime(*map(int, re.findall("[0-9]+", value)[:6]))
    except ValueError:
        need(False, at, wants, value)


MAX_UNITS, MAX_NONCE, MAX_MULTIPLIER = 2**53 - 1, 2**32 - 2, 51482970000
ID = text("[a-z0-9-]{1,64}", "1 to 64 of a-z 0-9 -")
CLIENT_SEED = text("[!-~]{1,64}", "1 to 64 visible ASCII characters without a space")
ANY_TEXT = text("(?s:.*)", "text")
CHIP = record({"kind": word(*sorted({kind for kind, _ in CHIPS})), "numbers": list_of(number(0, 36), 0, 6), "amount": decimal(1, MAX_UNITS)})


def money(low):
    return record({"currency": text("[A-Z0-9]{2,8}", "a currency like FUN"), "amount": decimal(low, MAX_UNITS)})


BETS = {  # what the player chose
    "dice": {"target": number(0, 9999), "direction": word("OVER", "UNDER")},
    "limbo": {"targetE2": number(101, 1000000)},
    "roulette": {"chips": list_of(CHIP, 0, 32)},
    "mines": {"mineCount": number(1, 24), "picks": list_of(number(0, 24), 0, 24)},
}
RESULTS = {  # what the house adds in evidence
    "dice": {"roll": number(0, 9999), "win": truth},
    "limbo": {"outcomeE2": number(100, 1000000), "win": truth},
    "roulette": {"chips": list_of(CHIP, 1, 32), "pocket": number(0, 36)},
    "mines": {"maxPicks": number(1, 24), "mines": list_of(number(0, 24), 0, 24), "hitMine": truth, "nextMultiplierE4": decimal(0, MAX_MULTIPLIER)},
}
ROUND = {
    "roundId": ID, "betId": text("[A-Za-z0-9_-]{1,40}", "1 to 40 of A-Z a-z 0-9 _ -"), "scheme": ID, "state": word("SETTLED", "VOID"),
    "game": word("DICE", "LIMBO", "ROULETTE", "MINES"), "seedPairId": ID, "commitment": hex64, "clientSeed": CLIENT_SEED, "nonce": number(0, MAX_NONCE),
    "stake": money(1), "payout": money(0), "multiplierE4": decimal(0, MAX_MULTIPLIER), "createTime": time, "settleTime": time,
}
GAME_ROUNDS = {game: record({**ROUND, game: record({**BETS[game], **RESULTS[game]})}) for game in GAMES}


def round_record(value, at):
    game = value["game"].lower() if isinstance(value, dict) and isinstance(value.get("game"), str) else ""
    GAME_ROUNDS.get(game, record(ROUND))(value, at)
    problem = GAMES[game].problem(value[game])
    if problem:
        raise Unusable(f"{at}.{game}: {problem}")


def seed_pair_record(value, at):
    unused = isinstance(value, dict) and value.get("state") == "UNUSED"  # a commitment that never became active: no client seed, no bets
    record({
        "seedPairId": ID, "scheme": word("originals-v1"), "state": word("REVEALED", "UNUSED"), "commitment": hex64,
        "clientSeed": text("", "an empty client seed") if unused else CLIENT_SEED, "nonce": number(0, 0 if unused else MAX_NONCE + 1),
        "serverSeed": hex64, "createTime": time, "revealTime": time,
    }, {"revealReason": ANY_TEXT})(value, at)


DOCUMENT = record({"format": word("originals-evidence-v1"), "seedPair": seed_pair_record, "rounds": list_of(round_record, 0, 2**32)})

# ---- 5. The checks ----------------------------------------------------------------------------------------------------

CHECKS = {  # in this order; the first that fails gives the verdict its name
    "format": "the document is complete and well-formed",
    "commitment": "the server seed hashes to the commitment",
    "identity": "every round names this seed pair, its commitment and its client seed; no bet id stands twice",
    "nonce": "every nonce from 0 on is there once",
    "order": "no time runs backwards",
    "outcome": "every outcome follows from the seeds",
    "win": "every win and every loss is called rightly",
    "multiplier": "every multiplier is the one of the rules",
    "payout": "every payout is the one of the rules",
    "stake": "every roulette stake is the sum of its chips",
}


class Report:
    def __init__(self):
        self.failures = {check: [] for check in CHECKS}
        self.notes = []
        self.summary = ""
        self.verdict = ""

    def fail(self, check, words):
        self.failures[check].append(words)


def check_evidence(file_text, kept_commitment=None, last_nonce=None):
    """The report on a document; the last two are what the player wrote down before."""
    report = Report()
    try:
        evidence = parse_json(file_text)
        DOCUMENT(evidence, "document")
    except Unusable as error:
        report.fail("format", str(error))
        report.verdict = "UNUSABLE (format)"
        return report

    pair, rounds = evidence["seedPair"], evidence["rounds"]
    check_commitment(pair["serverSeed"], pair["commitment"], kept_commitment, report)
    check_sequence(pair, rounds, last_nonce, report)
    for one in rounds:
        check_round(pair, one, report)

    if pair["clientSeed"] and len(pair["clientSeed"]) < 16:
        report.notes.append(weak(pair["clientSeed"]))
    if any(time_key(one["settleTime"]) > time_key(pair["revealTime"]) for one in rounds):
        report.notes.append("the server seed was revealed before the last round had settled")
    if kept_commitment is None:
        report.notes.append("give the commitment that you were shown before you played with --commitment; without it the file only agrees with itself")
    report.summary = summarize(rounds)
    first = next((check for check in CHECKS if report.failures[check]), None)
    if first:
        report.verdict = f"FAILED ({first})"
    else:
        report.verdict = "CONSISTENT, COMMITMENT NOT CONFIRMED" if kept_commitment is None else "VERIFIED"
    return report


def check_commitment(server_seed, claimed, kept, report):
    computed = commitment_of(server_seed)
    hint = ""
    if server_seed in (claimed, kept):
        hint = "; the server seed given is a commitment: a hash was pasted in place of the server seed"
    elif hashlib.sha3_256(bytes.fromhex(server_seed)).hexdigest() == claimed:
        hint = "; the commitment is the hash of the 32 raw bytes, and this scheme hashes the 64 hex digits"
    if computed != claimed:
        report.fail("commitment", f"the server seed hashes to {computed}, and the commitment is {claimed}{hint}")
    if kept not in (None, claimed):
        report.fail("commitment", f"you kept the commitment {kept}, and this one is {claimed}: another seed pair, or another promise")


def time_key(value):
    """Sorts as text: 0, 3, 6 and 9 decimals are filled up to 9."""
    return value[:19] + value[20:-1].ljust(9, "0")


def check_sequence(pair, rounds, last_nonce, report):
    bet_ids = set()
    expected, before = 0, ""
    for one in rounds:
        nonce = one["nonce"]
        name = f"nonce {nonce}"
        for key in ("scheme", "seedPairId", "commitment", "clientSeed"):
            if one[key] != pair[key]:
                report.fail("identity", f"{name}: {key} is {quote(one[key])}, and the seed pair has {quote(pair[key])}")
        if one["roundId"] != f"{pair['seedPairId']}-{nonce}":
            report.fail("identity", f"{name}: roundId is {quote(one['roundId'])}, not the seed pair's id and the nonce")
        if one["betId"] in bet_ids:
            report.fail("identity", f"{name}: the bet {one['betId']} stands twice")
        bet_ids.add(one["betId"])
        if nonce > expected:
            report.fail("nonce", f"nonce {expected} is missing: the next round has {nonce}")
        elif nonce < expected:
            report.fail("nonce", f"nonce {nonce} comes again or too late, after {expected - 1}")
        expected = nonce + 1
        if time_key(one["createTime"]) < before:
            report.fail("order", f"{name}: it was made before the round that precedes it")
        if time_key(one["settleTime"]) < time_key(one["createTime"]):
            report.fail("order", f"{name}: it was settled before it was made")
        before = time_key(one["createTime"])
    if pair["nonce"] != len(rounds):
        report.fail("nonce", f"the seed pair has had {pair['nonce']} bets, and the file holds {len(rounds)}")
    if last_nonce is not None and last_nonce >= pair["nonce"]:
        report.fail("nonce", f"you have seen nonce {last_nonce}, and the seed pair ends before it")


def check_round(pair, one, report):
    nonce, game, stake = one["nonce"], one["game"].lower(), int(one["stake"]["amount"])
    name, bet = f"nonce {nonce}", one[game]

    def play_at(nonce):
        return GAMES[game].play(bet, stake, Stream(signature_of(pair["serverSeed"], pair["clientSeed"], nonce)))

    is_void, unplayed = one["state"] == "VOID", game == "mines" and not bet["picks"]
    drawn, flag, multiplier, payout = play_at(nonce)
    if is_void:  # refunded
        multiplier, payout = 0, stake
    if is_void and not unplayed:
        report.fail("outcome", f"{name}: only a mines round without a pick can be void")
    if unplayed and not is_void:
        report.fail("outcome", f"{name}: a mines round settles with one pick at least")

    for key, right in drawn.items():
        if bet[key] == right or (is_void and unplayed and bet["mines"] == []):  # a void board may never have been shown
            continue
        near = [n for n in (nonce - 1, nonce + 1) if n >= 0 and play_at(n)[0][key] == bet[key]]
        hint = f" (nonce {near[0]} would give it: is the nonce off by one?)" if near else ""
        report.fail("outcome", f"{name}: {key} is {plain(bet[key])}, and the seeds give {plain(right)}{hint}")
    for key, right in flag.items():
        if bet[key] != right:
            report.fail("win", f"{name}: {key} is {plain(bet[key])}, and it should be {plain(right)}")
    if game == "mines":
        early = [tile for tile in bet["picks"][:-1] if tile in drawn["mines"]]
        if early:
            report.fail("win", f"{name}: tile {early[0]} is a mine, and the picks go on after it")
        if bet["nextMultiplierE4"] != "0":
            report.fail("multiplier", f"{name}: nextMultiplierE4 is {bet['nextMultiplierE4']}, and a round that has ended has none")
    if one["multiplierE4"] != str(multiplier):
        report.fail("multiplier", f"{name}: the multiplier is {one['multiplierE4']}, and it should be {multiplier} (in 1/10000)")
    if one["payout"]["amount"] != str(payout):
        report.fail("payout", f"{name}: the payout is {one['payout']['amount']}, and it should be {payout}")
    if one["payout"]["currency"] != one["stake"]["currency"]:
        report.fail("payout", f"{name}: staked in {one['stake']['currency']}, paid in {one['payout']['currency']}")
    if game == "roulette" and chips_total(bet["chips"]) != stake:
        report.fail("stake", f"{name}: the stake is {stake}, and the chips add up to {chips_total(bet['chips'])}")


def plain(value):
    """A drawn value for people: 1234, true, or tiles joined with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def weak(client_seed):
    return f"WEAK client seed of {len(client_seed)} bytes: under 16 the house might have guessed it before it chose the server seed"


def summarize(rounds):
    games, staked, paid = {}, {}, {}

    def add(sums, key, amount):
        sums[key] = sums.get(key, 0) + int(amount)

    def show(sums, of=""):
        return ", ".join(f"{amount} {of}{key}" for key, amount in sums.items()) or "nothing"

    for one in rounds:
        add(games, "void" if one["state"] == "VOID" else one["game"].lower(), 1)
        add(staked, one["stake"]["currency"], one["stake"]["amount"])
        add(paid, one["payout"]["currency"], one["payout"]["amount"])
    count = "1 round" if len(rounds) == 1 else f"{len(rounds)} rounds"
    return f"{count}: {show(games)}; staked {show(staked, 'units of ')}; paid {show(paid, 'units of ')}"


# ---- 6. The command line ----------------------------------------------------------------------------------------------


def line(label, words):
    print(label.ljust(12) + words)


def parse_nonce(value, at):
    text("0|[1-9][0-9]{0,9}", "a nonce from 0 to 4294967294")(value, at)
    number(0, MAX_NONCE)(int(value), at)
    return int(value)


def parse_ply(value, at):
    text("0|[1-9][0-9]{0,3}", "a ply from 0 to 9999")(value, at)
    return int(value)


def is_duel(content):
    try:
        document = parse_json(content)
    except Unusable:
        return False  # check_evidence says what is wrong
    return isinstance(document, dict) and document.get("format") == "originals-duel-v1"


def read_file(file):
    try:
        with open(file, "rb") as opened:
            return opened.read().decode("utf-8")
    except UnicodeDecodeError:
        raise Unusable(f"{quote(file)}: not UTF-8 text") from None
    except (OSError, ValueError):
        raise Unusable(f"{quote(file)}: cannot be read") from None


def print_report(report, checks):
    """Prints every check and returns the exit status."""
    unusable = report.verdict.startswith("UNUSABLE")
    for check, what in checks.items():
        failures = report.failures[check]
        for words in failures[:5]:
            line(check, f"FAILED  {words}")
        if len(failures) > 5:
            line("", f"        and {len(failures) - 5} more")
        if not failures and not unusable:
            line(check, f"ok      {what}")
    if report.summary:
        line("summary", report.summary)
    for note in report.notes:
        line("note", note)
    line("verdict", report.verdict)
    return 2 if unusable else 1 if report.verdict.startswith("FAILED") else 0


def command_evidence(file, flags):
    kept = flags.get("commitment")
    if kept is not None:
        hex64(kept, "--commitment")
    last_nonce = parse_nonce(flags["last-nonce"], "--last-nonce") if "last-nonce" in flags else None
    last_ply = parse_ply(flags["last-ply"], "--last-ply") if "last-ply" in flags else None
    content = read_file(file)
    checks = CHECKS
    if is_duel(content):
        sys.dont_write_bytecode = True
        import duel  # beside this file
        if last_nonce is not None:
            raise Unusable("--last-nonce: is for seed pairs, and this is a duel")
        report, checks = duel.check_duel(content, kept, last_ply), duel.CHECKS
    else:
        if last_ply is not None:
            raise Unusable("--last-ply: is for duels, and this is none")
        report = check_evidence(content, kept, last_nonce)
    return print_report(report, checks)


def command_round(flags):
    hex64(flags.get("server-seed", MISSING), "--server-seed")
    CLIENT_SEED(flags.get("client-seed", MISSING), "--client-seed")
    server_seed, client_seed = flags["server-seed"], flags["client-seed"]
    nonce = parse_nonce(flags.get("nonce", MISSING), "--nonce")
    if "commitment" in flags:
        hex64(flags["commitment"], "--commitment")
    chosen = [game for game in GAMES if game in flags]
    if len(chosen) != 1:
        raise Unusable("give one of --dice, --limbo, --roulette, --mines")
    game = chosen[0]
    bet = parse_json(flags[game])
    record(BETS[game])(bet, f"--{game}")
    problem = GAMES[game].problem(bet)
    if problem:
        raise Unusable(f"--{game}: {problem}")
    if "stake" in flags:
        decimal(1, MAX_UNITS)(flags["stake"], "--stake")
    stake = int(flags.get("stake", 0))
    if game == "roulette" and "stake" in flags and stake != chips_total(bet["chips"]):
        raise Unusable(f"--stake: the chips add up to {chips_total(bet['chips'])}")

    signature = signature_of(server_seed, client_seed, nonce)
    drawn, flag, multiplier, payout = GAMES[game].play(bet, stake, Stream(signature))
    if game == "mines" and any(tile in drawn["mines"] for tile in bet["picks"][:-1]):
        raise Unusable("--mines: the picks go on after a mine")
    report = Report()
    computed = commitment_of(server_seed)
    check_commitment(server_seed, flags.get("commitment", computed), None, report)
    failures = report.failures["commitment"]
    line("commitment", computed)
    line("signature", signature)
    line("outcome", " ".join(f"{key}={plain(value)}" for key, value in {**drawn, **flag}.items()))
    line("multiplier", str(multiplier))
    if game == "roulette" or "stake" in flags:
        line("payout", str(payout))
    for words in failures:
        line("commitment", f"FAILED  {words}")
    if len(client_seed) < 16:
        line("note", weak(client_seed))
    if failures:
        line("verdict", "FAILED (commitment)")
    else:
        line("verdict", "VERIFIED" if "commitment" in flags else "CONSISTENT, COMMITMENT NOT CONFIRMED")
    return 1 if failures else 0


def main(args):
    command, args = args[0] if args else "", args[1:]
    if command == "vectors" and not args:
        sys.dont_write_bytecode = True
        import vectors  # beside this file; only for those who make the vectors
        sys.stdout.write(vectors.vectors_file())
        return 0
    if command == "vectors" and args == ["duel-v1"]:
        sys.dont_write_bytecode = True
        import duelvectors  # beside this file; only for those who make the vectors
        sys.stdout.write(duelvectors.vectors_file())
        return 0
    allowed = {"evidence": ["commitment", "last-nonce", "last-ply"], "round": ["server-seed", "client-seed", "nonce", "commitment", "stake", *GAMES]}.get(command)
    if allowed is None or (command == "evidence" and not args):
        print("usage: verify.py evidence FILE | round ... | vectors   (see the first lines of this file)", file=sys.stderr)
        return 2
    file = args.pop(0) if command == "evidence" else None
    try:
        flags = {}
        while args:
            flag = args.pop(0)
            name = flag[2:]
            if not flag.startswith("--") or name not in allowed:
                raise Unusable(f"{quote(flag)}: unknown; known are --{' --'.join(allowed)}")
            if not args or name in flags:
                raise Unusable(f"{quote(flag)}: wants one value, once")
            flags[name] = args.pop(0)
        return command_evidence(file, flags) if command == "evidence" else command_round(flags)
    except Unusable as error:
        line("format", f"FAILED  {error}")
        line("verdict", "UNUSABLE (format)")
        return 2


if __name__ == "__main__":
    sys.modules["verify"] = sys.modules["__main__"]  # so that what stands beside this file meets the same classes
    sys.exit(main(sys.argv[1:]))
