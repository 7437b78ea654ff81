#!/usr/bin/env python3
"""Checks rounds of a crash table of the scheme crash-v1 without trusting the house. Standard library only:

    python3 crash.py FILE [--terminal HEX] [--salt HEX]
    python3 crash.py round --table main --number N --hash HEX --salt HEX [--terminal HEX]
    python3 crash.py growth [MULTIPLIER]                 growth-v1: when a round reaches it; without one the digest of all

FILE holds what GET /v1/crash/tables/TABLE/rounds and .../rounds/N answered, one answer after the other or in a list; also
that of .../tables/TABLE, and of /v1/rounds?game=CRASH, so that your bets are checked, too. Terminal and salt are those
that you noted before you played. The strict reader of JSON is that of verify.py beside this file.
"""
import calendar
import decimal
import hashlib
import hmac
import re
import sys
import time as clock

sys.dont_write_bytecode = True
from verify import (ANY_TEXT, ID, Unusable, decimal as units, hex64, line, list_of, money, number, parse_json, print_report,  # noqa: E402
                    quote, read_file, record, text, time, word)

# ---- 1. crash-v1 --------------------------------------------------------------------------------------------------------
# h[i-1]  = SHA-256(h[i]) over the 32 raw bytes; h[0] is the terminal, and round r uses h[r]
# digest  = HMAC-SHA256(key = h[r], message = table ":" r ":" salt)
# h       = the first 13 hex digits of the digest, 52 bits
# crash   = floor((100 * 2^52 - h) / (2^52 - h)) hundredths, at least 100 and at most 1000000


def before(link, steps=1):
    """The hash of so many rounds before."""
    raw = bytes.fromhex(link)
    for _ in range(steps):
        raw = hashlib.sha256(raw).digest()
    return raw.hex()


def digest_of(link, table, number, salt):
    return hmac.new(bytes.fromhex(link), f"{table}:{number}:{salt}".encode(), hashlib.sha256).hexdigest()


def point_of(h):
    return min(max((100 * 2**52 - h) // (2**52 - h), 100), 1_000_000)


def crash_of(link, table, number, salt):
    return point_of(int(digest_of(link, table, number, salt)[:13], 16))


def payout_of(stake, target_e2):
    """Of a win."""
    return stake * target_e2 // 100


# ---- 2. growth-v1 -------------------------------------------------------------------------------------------------------
# first_us[m] = ceil(10^9 * ln(m / 100) / 60), the microsecond at which m hundredths are reached, here with 45 digits: no value
# comes closer than 10^-6 to a whole number but the first, which is 0.

DIGITS = decimal.Context(prec=45, rounding=decimal.ROUND_CEILING)
GROWTH_DIGEST = "f18be2388cb3a73bea7281b3d01d14e290eaf9f32ff40f98d2baec354c121c30"


def first_us(m):
    ratio = DIGITS.divide(decimal.Decimal(m), decimal.Decimal(100))
    return int(DIGITS.to_integral_value(DIGITS.divide(DIGITS.multiply(decimal.Decimal(10**9), DIGITS.ln(ratio)), decimal.Decimal(60))))


def growth_digest():
    return hashlib.sha256(b"".join(first_us(m).to_bytes(4, "big") for m in range(100, 1_000_002))).hexdigest()


# ---- 3. The answers, field by field -------------------------------------------------------------------------------------

UINT, LARGEST = 2**32 - 1, 2**53 - 1


def empty_or(form):
    return lambda value, at: None if value == "" else form(value, at)


TABLE_NAME, POINT_E2 = text("[a-z0-9-]{1,32}", "a table: 1 to 32 of a-z 0-9 -"), number(100, 1_000_000)
SIGNATURE = empty_or(text("[0-9a-f]{96}", "96 lower-case hex digits, or nothing"))
SALT = record({"kind": word("SELF_CHOSEN", "BITCOIN_BLOCK", "DRAND"), "value": empty_or(hex64), "named": units(0, LARGEST), "signature": SIGNATURE},
              {"network": empty_or(hex64)})
BEACON = record({"round": units(0, LARGEST), "randomness": empty_or(hex64), "signature": SIGNATURE}, {"network": empty_or(hex64)})
STATE, NOTHING = word("OPEN", "SETTLED", "VOID"), text("", "nothing")
BET = record({
    "roundId": ID, "betId": text("[A-Za-z0-9_-]{1,40}", "1 to 40 of A-Z a-z 0-9 _ -"), "game": word("CRASH"), "scheme": word("crash-v1"), "state": STATE,
    "seedPairId": NOTHING, "commitment": NOTHING, "clientSeed": NOTHING, "nonce": number(0, 0), "stake": money(1), "payout": money(0),
    "multiplierE4": units(0, 100_000_000), "createTime": time,
    "crash": record({"table": TABLE_NAME, "number": number(1, UINT), "autoCashOutE2": number(101, 1_000_000), "cashOutE2": number(0, 1_000_000)},
                    {"crashE2": POINT_E2}),
}, {"settleTime": time, "balance": money(0)})
ROUND = record({
    "table": TABLE_NAME, "number": number(1, UINT), "state": STATE, "scheme": word("crash-v1"), "terminal": hex64,
    "voidReason": empty_or(text("[A-Z_]{1,64}", "nothing, or a reason such as STORE_REPLACED")), "betCount": number(0, 2**31 - 1),
}, {
    "hash": hex64, "crashE2": POINT_E2, "salt": SALT, "beacon": BEACON, "openTime": time, "lockTime": time, "startTime": time, "crashTime": time, "bet": BET,
})
NEXT = record({"table": TABLE_NAME, "terminal": hex64, "chainLength": number(1, UINT)}, {"salt": SALT, "beacon": BEACON, "announceTime": time})
TABLE = record({
    "table": TABLE_NAME, "scheme": word("crash-v1"), "growth": word("growth-v1"), "growthSha256": hex64,
    "phase": word("BETTING", "CLOSING", "RUNNING", "CRASHED", "STOPPED"), "number": number(0, UINT), "terminal": hex64, "chainLength": number(1, UINT),
    "nextTerminal": empty_or(hex64), "timings": record({"bettingMs": number(0, UINT), "crashedMs": number(0, UINT), "tickMs": number(0, UINT)}),
    "serverTime": time, "multiplierE2": POINT_E2, "bets": list_of(BET, 0, UINT),
}, {
    "salt": SALT, "beacon": BEACON, "lockTime": time, "startTime": time, "crashE2": POINT_E2, "next": NEXT, "previous": empty_or(TABLE_NAME),
    "end": empty_or(hex64),
})


def has(value, *keys):
    return isinstance(value, dict) and any(key in value for key in keys)


def round_or_bet(value, at):
    (BET if has(value, "roundId") else ROUND)(value, at)


PAGE = record({"rounds": list_of(round_or_bet, 0, UINT), "nextPageToken": ANY_TEXT})


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]]|[^ \t\r\n"{}\[\]]+', re.DOTALL)


def answers_of(content):
    """The texts of the answers that stand one after the other."""
    answers, depth, start = [], 0, 0
    for token in TOKEN.finditer(content):
        if depth == 0:
            start = token.start()
        depth += (token[0] in ("{", "[")) - (token[0] in ("}", "]"))
        if depth == 0:
            answers.append(content[start:token.end()])
    return answers if depth == 0 else answers + [content[start:]]


class Answers:
    def __init__(self, content):
        self.rounds, self.tables, self.bets = [], [], []
        for answer in answers_of(content):
            value = parse_json(answer)
            if isinstance(value, list):
                for i, one in enumerate(value):
                    self.take(one, f"answers[{i}]")
            else:
                self.take(value, "answer")

    def take(self, one, at):
        if has(one, "rounds", "nextPageToken"):
            PAGE(one, at)
            for each in one["rounds"]:
                self.sort(each)
            return
        form = TABLE if has(one, "phase", "growth", "chainLength") else BET if has(one, "roundId", "betId") else ROUND
        form(one, at)
        self.sort(one)

    def sort(self, one):
        if has(one, "roundId"):
            self.bets.append(one)
        elif has(one, "phase"):
            self.tables.append(one)
            self.bets += one["bets"]
        else:
            self.bets += [one["bet"]] if "bet" in one else []
            if (one["state"] == "OPEN") == ("hash" in one):
                raise Unusable(f"round {one['number']}: a round that has ended has a hash, and an OPEN one has none")
            self.rounds.append(one)


# ---- 4. The checks ------------------------------------------------------------------------------------------------------

CHECKS = {  # in this order; the first that fails gives the verdict its name
    "format": "the answers are complete and well-formed",
    "terminal": "all of it is about one table and one chain, whose terminal is the one that was announced",
    "numbers": "every number from the first to the last is there, and every round ended as the rules allow",
    "chain": "every hash leads to that of the round before, and the first one to the terminal",
    "salt": "the salt is one for all rounds, or that of the beacon that each round had named",
    "crash": "every crash point follows from the hash and the salt",
    "bet": "every bet was won, lost and paid by the rules",
}
QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"


def published_at(beacon_round):
    """Unix seconds."""
    return 1692803367 + 3 * (beacon_round - 1)


class Report:
    def __init__(self):
        self.failures = {check: [] for check in CHECKS}
        self.notes, self.summary, self.verdict = [], "", ""
        self.open = self.saltless = self.strayed = self.unpaid = self.unknown = 0

    def fail(self, check, words):
        self.failures[check].append(words)

    def note(self, words):
        if words not in self.notes:
            self.notes.append(words)


def check_crash(content, terminal=None, salt=None):
    """The report on the answers; the last two are what the player wrote down before."""
    report = Report()
    try:
        answers = Answers(content)
    except Unusable as error:
        report.fail("format", str(error))
        report.verdict = "UNUSABLE (format)"
        return report
    report.open = sum(r["state"] == "OPEN" for r in answers.rounds)
    rounds = one_each([r for r in answers.rounds if r["state"] != "OPEN"], report)
    bets = bets_once(answers.bets, report)
    if rounds:
        check_terminal(rounds, terminal, report)
        check_numbers(rounds, report)
        check_chain(rounds, report)
        for r in rounds:
            value = salt_of(r, rounds[0], salt, report)
            if value:
                check_point(r, value, report)
        for t in answers.tables:
            check_table(t, rounds, report)
        by_number = {r["number"]: r for r in rounds}
        for b in bets:
            check_bet(b, by_number, report)
    else:
        report.fail("numbers", "there is no round that has ended")
    for count, words in (
            (report.open, "left out, for they have no hash before they have ended: rounds that are OPEN"),
            (report.saltless, "not checked, for they never got a salt: crash points of void rounds"),
            (report.strayed, "not checked, for their rounds are not in the file or have not ended: bets"),
            (report.unpaid, "not settled yet: bets")):
        if count:
            report.note(f"{words} ({count})")
    report.verdict = "VERIFIED"
    if terminal is None:
        report.verdict = "CONSISTENT, TERMINAL NOT CONFIRMED"
        report.note("give the terminal that you were shown before you played with --terminal; without it the answers only agree with themselves")
    elif salt is None and (report.unknown or any("beacon" not in r for r in rounds)):
        report.verdict = "CONSISTENT, SALT NOT CONFIRMED"
        report.note("give the salt that you were shown before you played with --salt, or that you have looked up; without it another one might have been put in its place")
    first = next((check for check in CHECKS if report.failures[check]), None)
    if first:
        report.verdict = f"FAILED ({first})"
    report.summary = summarize(rounds, bets)
    return report


def one_each(all_rounds, report):
    """The rounds by number, each once."""
    def bare(r):
        return {key: value for key, value in r.items() if key not in ("bet", "betCount", "openTime", "crashTime")}

    rounds = []
    for r in sorted(all_rounds, key=lambda r: r["number"]):
        if not rounds or rounds[-1]["number"] != r["number"]:
            rounds.append(r)
        elif bare(rounds[-1]) != bare(r):
            report.fail("numbers", f"round {r['number']} stands twice, and the two differ")
    return rounds


def bets_once(all_bets, report):
    """The bets, each as the answer shows it that knows most: one that waits may enter a later round than it was told."""
    def bare(b):
        crash = {key: value for key, value in b["crash"].items() if key != "crashE2"}
        return {**{key: value for key, value in b.items() if key != "balance"}, "crash": crash}

    bets = []
    for b in sorted(all_bets, key=lambda b: (b["roundId"], b["state"] == "OPEN", b["crash"]["number"])):
        if not bets or bets[-1]["roundId"] != b["roundId"]:
            bets.append(b)
        elif b["state"] != "OPEN" and bare(bets[-1]) != bare(b):
            report.fail("bet", f"bet in round {bets[-1]['crash']['number']}: it stands twice, and the two differ")
    return sorted(bets, key=lambda b: (b["crash"]["number"], b["roundId"]))


def same_chain(what, one, first, report):
    if one["table"] != first["table"]:
        report.fail("terminal", f"{what} is of the table {one['table']}, and others are of {first['table']}: check each table by itself")
    elif one["terminal"] != first["terminal"]:
        report.fail("terminal", f"{what} has the terminal {one['terminal']}, and others have {first['terminal']}")


def check_terminal(rounds, kept, report):
    first = rounds[0]
    for r in rounds[1:]:
        same_chain(f"round {r['number']}", r, first, report)
    if kept is not None and kept != first["terminal"]:
        hint = "what you gave is the hash of a round" if kept == first["hash"] else "another chain, or another promise"
        report.fail("terminal", f"you kept the terminal {kept}, and that of these rounds is {first['terminal']}: {hint}")


def check_numbers(rounds, report):
    last = rounds[0]["number"] - 1
    for r in rounds:
        if (r["state"] == "VOID") != (r["voidReason"] != ""):
            report.fail("numbers", f"round {r['number']}: a round is VOID for a reason, and only then has one")
        if r["state"] == "VOID" and "startTime" in r:
            report.fail("numbers", f"round {r['number']}: it was running, and such a round is never void")
        if r["number"] > last + 1:
            which = f"round {last + 1} is" if r["number"] == last + 2 else f"rounds {last + 1} to {r['number'] - 1} are"
            report.fail("numbers", f"{which} missing: every number has to be listed, also of rounds that are VOID")
        last = r["number"]
    if rounds[0]["number"] > 1:
        report.note(f"the rounds before {rounds[0]['number']} are not in the file")


def check_chain(rounds, report):
    link, last = rounds[0]["terminal"], 0
    for r in rounds:
        if before(r["hash"], r["number"] - last) != link:
            words = f"its hash does not lead to that of round {last}" if last else f"{r['number']} hashes do not lead to the terminal{number_hint(r['hash'], r['number'], link)}"
            report.fail("chain", f"round {r['number']}: {words}")
        link, last = r["hash"], r["number"]


def number_hint(link, number, terminal):
    """Of which round it is."""
    if link == terminal:
        return "; it is that one itself"
    for found in range(1, number + 2):
        link = before(link)
        if link == terminal:
            return f"; it does after {found}: is it the hash of round {found}?"
    return "; it is of another chain"


def salt_of(r, first, kept, report):
    """The salt of a round, or None."""
    number, salt = r["number"], r.get("salt")
    if salt and "beacon" in r:
        report.fail("salt", f"round {number} has a salt and a beacon")
        return None
    if "beacon" in r:
        return beacon_salt(r, kept, report)
    if not salt or salt["value"] == "":
        if r["state"] != "VOID":
            report.fail("salt", f"round {number} has no salt")
        elif "crashE2" in r:
            report.fail("crash", f"round {number}: it has no salt, and a crash point")
        report.saltless += 1
        return None
    value, named = salt["value"], salt["named"]
    if r is not first and "salt" in first:
        if salt != first["salt"]:
            report.fail("salt", f"round {number} has the salt {value}, and others have {first['salt']['value']}")
        return value
    if kept is not None and kept != value:
        report.fail("salt", f"you kept the salt {kept}, and that of round {number} is {value}: another chain, or another promise")
    if salt["kind"] == "SELF_CHOSEN":
        report.note("the salt is self-chosen: the operator could have chosen these outcomes")
    if salt["kind"] == "BITCOIN_BLOCK":
        report.note(f"the salt is called the hash of Bitcoin block {named}, named in advance: look it up in an explorer")
    if salt["kind"] == "DRAND":
        report.note(f"the salt is called that of drand round {named}: see that this round was named before it was published")
        check_signature(number, {**salt, "randomness": value}, report)
    report.note("with one salt for all rounds, whoever holds the chain knows every crash point")
    return value


def beacon_salt(r, kept, report):
    number, beacon = r["number"], r["beacon"]
    if kept is not None:
        report.fail("salt", f"you kept the salt {kept}, and round {number} is salted by a beacon")
    if beacon["randomness"] == "":
        if r["state"] != "VOID":
            report.fail("salt", f"round {number}: its beacon is missing")
        elif "crashE2" in r:
            report.fail("crash", f"round {number}: its beacon was not published, and it has a crash point")
        report.saltless += 1
        return None
    check_signature(number, beacon, report)
    if beacon.get("network", "") not in ("", QUICKNET) or r["state"] == "VOID":
        return beacon["randomness"]  # a calendar that is not known here, or a late close: so it is void
    if "lockTime" not in r:
        report.fail("salt", f"round {number}: it does not say when betting closed")
        return beacon["randomness"]
    named, lock = int(beacon["round"]), r["lockTime"]
    whole = calendar.timegm(clock.strptime(lock[:19], "%Y-%m-%dT%H:%M:%S"))
    rest = bool(re.search("[.]0*[1-9]", lock))
    latest = (whole + rest + 1 - published_at(1) + 2) // 3 + 1  # the smallest R with time(R) >= lock time + 1 s
    if published_at(named) <= whole:
        report.fail("salt", f"round {number}: its beacon {named} was published before betting closed")
    elif named > latest:
        report.fail("salt", f"round {number}: its beacon is {named}, and by the time at which betting closed it is {latest} at the latest")
    return beacon["randomness"]


def check_signature(number, beacon, report):
    if hashlib.sha256(bytes.fromhex(beacon["signature"])).hexdigest() != beacon["randomness"]:
        report.fail("salt", f"round {number}: the randomness is not the SHA-256 of the beacon's signature")
    elif beacon.get("network", "") in ("", QUICKNET):
        report.note("whose signatures those of the beacon are was not checked here: that needs BLS12-381. Compare them with those that drand publishes")
    else:
        report.unknown += 1
        report.note(f"the beacon's network {beacon['network']} is not drand's quicknet: whoever runs it could know these outcomes")


def check_point(r, salt, report):
    number, link, table = r["number"], r["hash"], r["table"]
    if "crashE2" not in r:
        report.fail("crash", f"round {number} has no crash point")
        return
    right, stated = crash_of(link, table, number, salt), r["crashE2"]
    if right == stated:
        return
    near = next((n for n in (number - 1, number + 1) if n > 0 and crash_of(link, table, n, salt) == stated), None)
    hint = ""
    if near:
        hint = f" (number {near} would give it: is it off by one?)"
    elif crash_of(salt, table, number, link) == stated:
        hint = " (hash and salt are swapped)"
    report.fail("crash", f"round {number}: the crash point is stated as {stated}, and hash and salt give {right}{hint}")


def check_table(t, rounds, report):
    first, last, length = rounds[0], rounds[-1], t["chainLength"]
    same_chain("the answer about the table", t, first, report)
    if t["number"] > length or last["number"] > length:
        report.fail("terminal", f"the chain has {length} links, and there is a round {max(t['number'], last['number'])}")
    if t["growthSha256"] != GROWTH_DIGEST:
        report.fail("terminal", f"the growth of the multiplier has the digest {t['growthSha256']}, and growth-v1 has {GROWTH_DIGEST}")
    if t.get("salt", {}).get("value") and "salt" in first and t["salt"] != first["salt"]:
        report.fail("salt", f"the table has the salt {t['salt']['value']}, and its rounds have {first['salt']['value']}")
    shown = next((r for r in rounds if r["number"] == t["number"]), None)
    if shown and "crashE2" in t and t["crashE2"] != shown.get("crashE2"):
        report.fail("crash", f"round {t['number']}: the table shows the crash point {t['crashE2']}, and the round {shown.get('crashE2', 0)}")
    if t.get("end") and last["number"] <= length and before(t["end"], length - last["number"]) != last["hash"]:
        report.fail("chain", f"the end of the chain does not lead to the hash of round {last['number']}")


def check_bet(b, rounds, report):
    crash = b["crash"]
    auto, cashed, r = crash["autoCashOutE2"], crash["cashOutE2"], rounds.get(crash["number"])
    stake, payout = int(b["stake"]["amount"]), int(b["payout"]["amount"])

    def bad(words):
        report.fail("bet", f"bet in round {crash['number']}: {words}")

    if b["stake"]["currency"] != b["payout"]["currency"]:
        bad(f"staked in {b['stake']['currency']}, paid in {b['payout']['currency']}")
    if r is None or crash["table"] != r["table"]:
        report.strayed += 1
    elif b["state"] == "OPEN":
        report.unpaid += 1
    elif b["state"] == "VOID":  # cancelled, or the round is void
        if payout != stake or b["multiplierE4"] != "0" or cashed != 0:
            bad(f"a void bet gets its stake of {stake} back, and this one got {payout} at {b['multiplierE4']}")
    elif r["state"] == "VOID":
        bad("it is SETTLED, and its round is VOID")
    else:
        check_settled(b, auto, cashed, r.get("crashE2", 0), bad)


def check_settled(b, auto, cashed, point, bad):
    stake, payout = int(b["stake"]["amount"]), int(b["payout"]["amount"])
    if b["crash"].get("crashE2", point) != point:
        bad(f"it shows the crash point {b['crash']['crashE2']}, and the round {point}")
    elif cashed == 0 and auto <= point:
        bad(f"it lost, and its automatic cash-out at {auto} was reached: the crash point is {point}")
    elif cashed != 0 and not 101 <= cashed <= min(auto, point):
        bad(f"it was cashed out at {cashed}, which is not from 101 to its target {auto} and the crash point {point}")
    if b["multiplierE4"] != str(100 * cashed):
        bad(f"the multiplier is {b['multiplierE4']}, and it should be {100 * cashed} (in 1/10000)")
    if payout != payout_of(stake, cashed):
        bad(f"the payout is {payout}, and it should be {payout_of(stake, cashed)}")


def summarize(rounds, bets):
    if not rounds:
        return "no round"

    def total(of):
        sums = {}
        for b in bets:
            sums[b[of]["currency"]] = sums.get(b[of]["currency"], 0) + int(b[of]["amount"])
        return ", ".join(f"{amount} units of {currency}" for currency, amount in sums.items()) or "nothing"

    voids = sum(r["state"] == "VOID" for r in rounds)
    return (f"rounds {rounds[0]['number']} to {rounds[-1]['number']} of {rounds[0]['table']}, of which void: {voids}; bets: {len(bets)}; "
            f"staked {total('stake')}; paid {total('payout')}")


# ---- 5. The command line ------------------------------------------------------------------------------------------------


def command_file(file, flags):
    for name in ("terminal", "salt"):
        if name in flags:
            hex64(flags[name], f"--{name}")
    return print_report(check_crash(read_file(file), **flags), CHECKS)


def command_round(flags):
    for name in ("table", "number", "hash", "salt"):
        if name not in flags:
            raise Unusable(f"--{name}: is missing")
    TABLE_NAME(flags["table"], "--table")
    text("[1-9][0-9]{0,9}", "a number from 1 to 4294967295")(flags["number"], "--number")
    count = int(flags["number"])
    number(1, UINT)(count, "--number")
    for name in ("hash", "salt", "terminal"):
        if name in flags:
            hex64(flags[name], f"--{name}")
    link, table, salt, kept = flags["hash"], flags["table"], flags["salt"], flags.get("terminal")
    terminal = before(link, count)
    line("terminal", terminal)
    line("digest", digest_of(link, table, count, salt))
    line("crashE2", str(crash_of(link, table, count, salt)))
    failed = kept is not None and kept != terminal
    if failed:
        line("chain", f"FAILED  {count} hashes do not lead to the terminal{number_hint(link, count, kept)}")
    line("note", "see that the salt is the one that you were shown before you played: whoever could choose it could choose this outcome")
    line("verdict", "FAILED (chain)" if failed else "CONSISTENT, TERMINAL NOT CONFIRMED" if kept is None else "VERIFIED")
    return 1 if failed else 0


def command_growth(multiplier=None):
    if multiplier is None:
        line("growth-v1", growth_digest())
        return 0
    text("[1-9][0-9]{2,6}", "hundredths from 100 to 1000001")(multiplier, "growth")
    number(100, 1_000_001)(int(multiplier), "growth")
    line("growth-v1", f"{multiplier} hundredths after {first_us(int(multiplier))} microseconds")
    return 0


def main(args):
    if not args or args[0].startswith("--"):
        print("usage: crash.py FILE [--terminal HEX] [--salt HEX] | round ... | growth [MULTIPLIER] | vectors   (see the first lines of this file)", file=sys.stderr)
        return 2
    command, args = args[0], args[1:]
    if command == "vectors" and not args:
        import crashvectors  # beside this file; only for those who make the vectors
        sys.stdout.write(crashvectors.vectors_file())
        return 0
    allowed = ["table", "number", "hash", "salt", "terminal"] if command == "round" else ["terminal", "salt"]
    try:
        if command == "growth" and len(args) < 2:
            return command_growth(*args)
        flags = {}
        while args:
            flag = args.pop(0)
            name = flag[2:]
            if not flag.startswith("--") or name not in allowed:
                raise Unusable(f"{quote(flag)}: unknown; known are --{' --'.join(allowed)}")
            if not args or name in flags:
                raise Unusable(f"{quote(flag)}: wants one value, once")
            flags[name] = args.pop(0)
        return command_round(flags) if command == "round" else command_file(command, flags)
    except Unusable as error:
        line("format", f"FAILED  {error}")
        line("verdict", "UNUSABLE (format)")
        return 2


if __name__ == "__main__":
    sys.modules["crash"] = sys.modules["__main__"]  # so that what stands beside this file meets the same functions
    sys.exit(main(sys.argv[1:]))
