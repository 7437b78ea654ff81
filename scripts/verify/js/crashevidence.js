// Makes internal/vectors/crashrounds: answers about a crash table that hold, and answers with one fault each, with the verdict
// that every verifier must reach in index.json.   node crashevidence.js FOLDER
"use strict";
const fs = require("fs"), path = require("path");
const c = require("./crash.js"), { BEACONS } = require("./crashvectors.js");

const hash = (label) => c.hex(c.sha256(Array.from(`crash-v1 answers: ${label}`, (x) => x.charCodeAt(0))));
const clone = (value) => JSON.parse(JSON.stringify(value));
const END = hash("end"), LENGTH = 60, TERMINAL = c.before(END, LENGTH), SALT = hash("salt"), QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
const link = (number) => c.before(END, LENGTH - number);
const time = (seconds, fraction = "") => new Date(seconds * 1000).toISOString().replace(/\.000Z$/, fraction + "Z");
const NOON = 1767225600;

// newRound is a round as it is answered when it has ended.
function newRound(number, salt = { kind: "SELF_CHOSEN", value: SALT, named: "0", signature: "", network: "" }) {
  const at = NOON + 20 * number;
  return {
    table: "main", number, state: "SETTLED", scheme: "crash-v1", terminal: TERMINAL, hash: link(number), crashE2: c.crashOf(link(number), "main", number, salt.value), salt,
    openTime: time(at), lockTime: time(at + 5, ".000250"), startTime: time(at + 5, ".013"), crashTime: time(at + 15), voidReason: "", betCount: 3,
  };
}
const page = (...rounds) => ({ rounds: rounds.reverse(), nextPageToken: "" });
const range = (first, last) => Array.from({ length: last - first + 1 }, (_, i) => newRound(first + i));
const voidOf = (r, reason = "STORE_REPLACED") => { const { startTime, crashTime, ...rest } = r; return { ...rest, state: "VOID", voidReason: reason, betCount: 0 }; };
const opened = (number) => { const { hash, crashE2, startTime, crashTime, ...rest } = newRound(number); return { ...rest, state: "OPEN", betCount: 0 }; };

// newBet is a bet in a round; cashed 0 lost.
function newBet(r, auto, cashed, stake = 250) {
  return {
    roundId: `17-${hash("book").slice(0, 20)}-${r.number}`, betId: `bet-${r.number}`, game: "CRASH", scheme: "crash-v1", state: "SETTLED", seedPairId: "", commitment: "", clientSeed: "", nonce: 0,
    stake: { currency: "FUN", amount: String(stake) }, payout: { currency: "FUN", amount: String(c.payoutOf(BigInt(stake), cashed)) }, multiplierE4: String(100 * cashed),
    createTime: time(NOON + 20 * r.number + 1), settleTime: time(NOON + 20 * r.number + 15), crash: { table: "main", number: r.number, autoCashOutE2: auto, cashOutE2: cashed, crashE2: r.crashE2 },
  };
}
const cancelled = (r) => ({ ...newBet(r, 200, 0), state: "VOID", payout: { currency: "FUN", amount: "250" } });
function newTable(r, more = {}) {
  return {
    table: "main", scheme: "crash-v1", growth: "growth-v1", growthSha256: c.GROWTH_DIGEST, phase: "CRASHED", number: r.number, terminal: TERMINAL, chainLength: LENGTH, salt: r.salt, nextTerminal: "",
    timings: { bettingMs: 5000, crashedMs: 3000, tickMs: 100 }, serverTime: time(NOON + 5000), startTime: r.startTime, multiplierE2: r.crashE2, crashE2: r.crashE2, bets: [], previous: "", end: "", ...more,
  };
}

// beaconRound is salted by a round of drand's quicknet, which was published `wait` seconds after betting had closed.
function beaconRound(number, [round, signature], wait = 2) {
  const published = 1692803367 + 3 * (Number(round) - 1), randomness = c.hex(c.sha256(c.hexBytes(signature)));
  const { salt, ...rest } = newRound(number);
  return { ...rest, crashE2: c.crashOf(rest.hash, "main", number, randomness), beacon: { round, randomness, signature, network: QUICKNET }, lockTime: time(published - wait), startTime: time(published + 1), crashTime: time(published + 9) };
}
const beacons = () => BEACONS.map((one, i) => beaconRound(21 + i, one));
const of = (make, change) => { const made = make(); change(made.rounds || made, made); return made; };
const reached = range(1, LENGTH).find((r) => r.number > 8 && r.crashE2 >= 250), instant = range(1, LENGTH).find((r) => r.crashE2 < 199);
const own = (...bets) => ({ rounds: bets, nextPageToken: "" }); // as GET /v1/rounds?game=CRASH answers
const whole = () => page(...range(1, LENGTH));
const some = () => page(...range(7, 26));
const saltOf = (kind, value, named, signature = "", network = "") => ({ kind, value, named, signature, network });
const salted = (salt) => page(...Array.from({ length: 9 }, (_, i) => newRound(7 + i, salt)));
const drandSalt = saltOf("DRAND", c.hex(c.sha256(c.hexBytes(BEACONS[0][1]))), BEACONS[0][0], BEACONS[0][1], QUICKNET);

const good = { // a name, its answers
  "one-round": [newRound(5)], "first-round": [newRound(1)], "last-round": [newRound(LENGTH)], page: [some()], whole: [whole()], "whole-with-table": [whole(), newTable(newRound(LENGTH), { end: END, phase: "STOPPED" })],
  "pages-in-any-order": [page(...range(11, 20)), page(...range(1, 10)), page(...range(21, 30))], "a-list": [[newRound(4), newRound(3), page(...range(5, 9))]], "overlapping": [page(...range(3, 9)), page(...range(7, 12))],
  "table-first": [newTable(newRound(26)), some()], "with-open-round": [page(...range(7, 26), opened(27))], "void-rounds": [page(...range(7, 9), voidOf(newRound(10)), voidOf(newRound(11)), ...range(12, 15))],
  "bet-won": [{ ...reached, bet: newBet(reached, 199, 199) }], "bet-won-at-the-crash-point": [{ ...reached, bet: newBet(reached, 1000000, reached.crashE2) }], "bet-won-by-hand": [{ ...reached, bet: newBet(reached, 1000000, 101) }],
  "bet-lost": [{ ...instant, bet: newBet(instant, 200, 0) }], "bet-cancelled": [some(), own(cancelled(newRound(9)))], "bet-of-a-void-round": [page(newRound(8), { ...voidOf(newRound(9)) }), own(cancelled(newRound(9)))],
  "bets-of-a-list": [whole(), own(newBet(reached, 200, 200), newBet(instant, 200, 0))], "bet-open": [some(), own({ ...newBet(newRound(9), 200, 0), state: "OPEN" })], "bet-at-another-table": [some(), own((() => { const b = newBet(newRound(9), 1000000, 0); b.crash.table = "other"; return b; })())], "bet-elsewhere": [some(), own(newBet(newRound(3), 1000000, 0))],
  "bet-queued-for-an-earlier-round": [whole(), own({ ...newBet(newRound(3), 199, 0), roundId: newBet(reached, 199, 199).roundId, state: "OPEN" }), own(newBet(reached, 199, 199))],
  "bet-twice": [{ ...reached, bet: newBet(reached, 199, 199) }, own(newBet(reached, 199, 199))], "bet-with-balance": [{ ...reached, bet: { ...newBet(reached, 150, 150), balance: { currency: "FUN", amount: "1" } } }],
  bitcoin: [salted(saltOf("BITCOIN_BLOCK", "0000000000000000004d6ec16dafe9d8370958664c1dc422f452892264c59526", "505750"))], drand: [salted(drandSalt)],
  beacon: [page(...beacons())], "beacon-named-for-a-later-close": [page(beaconRound(21, BEACONS[0], 1))], "beacon-never-published": [page(...beacons().slice(0, 2), (({ crashE2, ...r }) => ({ ...voidOf(r, "BEACON_UNPUBLISHED"), beacon: { ...r.beacon, randomness: "", signature: "" } }))(beacons()[2]))],
  "beacon-of-skipped-rounds": [page(beacons()[0], (({ crashE2, salt, ...r }) => ({ ...voidOf(r), beacon: { round: "0", randomness: "", signature: "", network: QUICKNET } }))(newRound(22)))],
  "beacon-void-for-a-late-close": [page(beacons()[0], voidOf(beaconRound(22, BEACONS[1], -5), "NO_OWNER"))], "test-beacon": [page(...beacons().map((r) => ({ ...r, beacon: { ...r.beacon, network: hash("network") } })))], "test-drand": [salted({ ...drandSalt, network: hash("network") })],
  "without-networks": [page(...beacons().map((r) => { const one = clone(r); delete one.beacon.network; return one; }))],
};
const changed = (answers, change) => { const made = clone(answers); change(made); return made; };
const at = (make, i, change) => [of(make, (rounds) => change(rounds[i], rounds, i))];
const withBet = (change, r = reached, auto = 199, cashed = 199) => { const bet = newBet(r, auto, cashed); change(bet); return [{ ...r, bet }]; };
const faults = {
  terminal: {
    "another-table": at(some, 3, (r) => { r.table = "other"; r.crashE2 = c.crashOf(r.hash, "other", r.number, SALT); }), "another-terminal": at(some, 3, (r) => { r.terminal = hash("x"); }), "table-of-another-chain": [some(), newTable(newRound(26), { terminal: hash("x") })],
    "more-rounds-than-links": [some(), newTable(newRound(26), { chainLength: 25 })], "table-beyond-its-last-link": [some(), newTable(newRound(26), { number: LENGTH + 1 })], "rounds-after-the-last-link": [some(), newTable(newRound(20), { chainLength: 25 })], "another-growth": [some(), newTable(newRound(26), { growthSha256: hash("x") })],
  },
  numbers: {
    "round-missing": [of(some, (rounds) => { rounds.splice(4, 1); })], "rounds-missing": [of(some, (rounds) => { rounds.splice(4, 5); })], "void-round-not-listed": [page(...range(7, 9), ...range(11, 15))], "no-round": [page()], "only-an-open-round": [page(opened(3))],
    "round-twice-and-different": [some(), { ...newRound(9), lockTime: time(NOON) }], "void-without-reason": at(some, 3, (r) => { Object.assign(r, voidOf(r), { voidReason: "" }); delete r.startTime; }), "settled-with-a-reason": at(some, 3, (r) => { r.voidReason = "NO_OWNER"; }),
    "void-after-the-start": at(some, 3, (r) => { r.state = "VOID"; r.voidReason = "STORE_REPLACED"; }),
  },
  chain: {
    "first-hash-of-the-next": [(() => { const r = newRound(7); r.hash = link(8); r.crashE2 = c.crashOf(r.hash, "main", 7, SALT); return r; })()], "first-hash-of-the-one-before": [(() => { const r = newRound(7); r.hash = link(6); r.crashE2 = c.crashOf(r.hash, "main", 7, SALT); return r; })()],
    "hash-is-the-terminal": [(() => { const r = newRound(7); r.hash = TERMINAL; r.crashE2 = c.crashOf(r.hash, "main", 7, SALT); return r; })()],
    "hash-of-another-chain": at(some, 3, (r) => { r.hash = hash("x"); r.crashE2 = c.crashOf(r.hash, "main", r.number, SALT); }), "hashes-over-text": at(some, 0, (r) => { r.hash = c.hex(c.sha256(Array.from(r.hash, (x) => x.charCodeAt(0)))); r.crashE2 = c.crashOf(r.hash, "main", r.number, SALT); }),
    "end-of-another-chain": [some(), newTable(newRound(26), { end: hash("x") })],
  },
  salt: {
    "salt-changed": at(some, 3, (r) => { r.salt = { ...r.salt, value: hash("another salt") }; r.crashE2 = c.crashOf(r.hash, "main", r.number, r.salt.value); }), "salt-missing": at(some, 3, (r) => { delete r.salt; }), "salt-not-fixed": at(some, 19, (r) => { r.salt.value = ""; }),
    "kind-changed": at(some, 3, (r) => { r.salt = { ...r.salt, kind: "BITCOIN_BLOCK", named: "505750" }; }), "table-with-another-salt": [some(), newTable(newRound(26), { salt: { ...newRound(26).salt, value: hash("another salt") } })],
    "salt-and-beacon": at(() => page(...beacons()), 1, (r) => { r.salt = newRound(1).salt; }), "drand-of-another-signature": [salted({ ...drandSalt, signature: BEACONS[1][1] })], "drand-without-signature": [salted({ ...drandSalt, signature: "" })],
    "beacon-of-another-signature": at(() => page(...beacons()), 1, (r) => { r.beacon.signature = BEACONS[0][1]; }), "beacon-missing": at(() => page(...beacons()), 1, (r) => { r.beacon.randomness = r.beacon.signature = ""; }),
    "beacon-known-before-the-close": [page(beaconRound(21, BEACONS[0], 0))], "beacon-known-long-before": [page(beaconRound(21, BEACONS[0], -600))], "beacon-too-late": [page(beaconRound(21, BEACONS[0], 4))], "no-lock-time": at(() => page(...beacons()), 1, (r) => { delete r.lockTime; }),
  },
  crash: {
    "one-more": at(some, 3, (r) => { r.crashE2++; }), "one-less": at(() => page(clone(reached)), 0, (r) => { r.crashE2--; }), "of-the-next-number": at(some, 3, (r) => { r.crashE2 = c.crashOf(r.hash, "main", r.number + 1, SALT); }), "of-another-table": at(some, 3, (r) => { r.crashE2 = c.crashOf(r.hash, "other", r.number, SALT); }),
    "hash-and-salt-swapped": at(some, 3, (r) => { r.crashE2 = c.crashOf(SALT, "main", r.number, r.hash); }), "of-the-text-of-the-hash": at(some, 3, (r) => { r.crashE2 = c.pointOf(BigInt("0x" + c.hex(c.hmac(Array.from(r.hash, (x) => x.charCodeAt(0)), Array.from(`main:${r.number}:${SALT}`, (x) => x.charCodeAt(0)))).slice(0, 13))); }),
    "missing": at(some, 3, (r) => { delete r.crashE2; }), "void-without-crash-point": [page(newRound(8), (({ crashE2, ...r }) => voidOf(r))(newRound(9)))], "void-with-a-wrong-one": [page(newRound(8), voidOf({ ...newRound(9), crashE2: 100 === newRound(9).crashE2 ? 101 : 100 }))],
    "table-shows-another": [some(), newTable({ ...newRound(26), crashE2: newRound(26).crashE2 + 1 })], "point-without-beacon": at(() => page(...beacons()), 0, (r, rounds, i) => { rounds[i] = voidOf({ ...r, beacon: { ...r.beacon, randomness: "", signature: "" } }, "BEACON_UNPUBLISHED"); }),
  },
  bet: {
    "automatic-cash-out-missed": withBet(() => {}, reached, 199, 0), "lost-at-a-tie": withBet(() => {}, reached, reached.crashE2, 0), "paid-above-the-crash-point": withBet(() => {}, instant, 1000000, instant.crashE2 + 1), "paid-above-its-target": withBet(() => {}, reached, 150, 199),
    "cashed-out-at-1-00": withBet((b) => { b.crash.cashOutE2 = 100; b.multiplierE4 = "10000"; b.payout.amount = "250"; }, reached, 199, 101), "one-unit-less": withBet((b) => { b.payout.amount = String(BigInt(b.payout.amount) - 1n); }), "rounded-up": withBet((b) => { b.payout.amount = String(BigInt(b.payout.amount) + 1n); }),
    "paid-and-lost": withBet((b) => { b.payout.amount = "1"; }, instant, 200, 0), "another-multiplier": withBet((b) => { b.multiplierE4 = "19901"; }), "paid-in-another-currency": withBet((b) => { b.payout.currency = "BTC"; }), "another-crash-point": withBet((b) => { b.crash.crashE2++; }),
    "void-and-not-refunded": [some(), own({ ...cancelled(newRound(9)), payout: { currency: "FUN", amount: "0" } })], "settled-in-a-void-round": [page(newRound(8), voidOf(newRound(9))), own(newBet(newRound(9), 1000000, 0))],
    "twice-and-different": [{ ...reached, bet: newBet(reached, 199, 199) }, own({ ...newBet(reached, 199, 199), betId: "another" })],
    "void-and-cashed-out": [some(), own((() => { const b = cancelled(newRound(9)); b.crash.cashOutE2 = 101; return b; })())], "void-with-a-multiplier": [some(), own({ ...cancelled(newRound(9)), multiplierE4: "10000" })],
    "in-two-rounds": [whole(), own(newBet(instant, 200, 0), newBet(newRound(5), 1000000, 0), { ...newBet(reached, 1000000, 0), roundId: newBet(instant, 200, 0).roundId })],
  },
};
const one = (change) => { const r = newRound(5); change(r); return [r]; };
const unusable = {
  "key-unknown": one((r) => { r.comment = "x"; }), "key-unknown-in-a-salt": one((r) => { r.salt.note = "x"; }), "key-in-another-case": one((r) => { r.Hash = r.hash; delete r.hash; }), "hash-missing": one((r) => { delete r.hash; }), "hash-upper-case": one((r) => { r.hash = r.hash.toUpperCase(); }),
  "hash-with-space": one((r) => { r.hash = " " + r.hash; }), "hash-of-an-open-round": one((r) => { r.state = "OPEN"; }), "state-unknown": one((r) => { r.state = "RUNNING"; }), "another-scheme": one((r) => { r.scheme = "crash-v2"; }), "number-zero": one((r) => { r.number = 0; }), "number-text": one((r) => { r.number = "5"; }),
  "number-too-large": one((r) => { r.number = 4294967296; }), "crash-point-below-1-00": one((r) => { r.crashE2 = 99; }), "crash-point-too-large": one((r) => { r.crashE2 = 1000001; }), "crash-point-text": one((r) => { r.crashE2 = "150"; }), "table-upper-case": one((r) => { r.table = "Main"; }), "table-long": one((r) => { r.table = "a".repeat(33); }),
  "table-empty": one((r) => { r.table = ""; }), "salt-short": one((r) => { r.salt.value = "5a"; }), "salt-kind-unknown": one((r) => { r.salt.kind = "DICE"; }), "named-number": one((r) => { r.salt.named = 0; }), "signature-short": [changed([page(...beacons())], (a) => { a[0].rounds[0].beacon.signature = "ab"; })], "time-with-offset": one((r) => { r.lockTime = "2026-01-01T00:00:00+01:00"; }),
  "terminal-missing": one((r) => { delete r.terminal; }), "void-reason-missing": one((r) => { delete r.voidReason; }), "null": one((r) => { r.salt = null; }), "bet-of-dice": withBet((b) => { b.game = "DICE"; }), "bet-with-a-nonce": withBet((b) => { b.nonce = 1; }), "bet-with-a-seed-pair": withBet((b) => { b.seedPairId = "17-ab"; }), "bet-without-crash": withBet((b) => { delete b.crash; }),
  "stake-number": withBet((b) => { b.stake.amount = 250; }), "stake-zero": withBet((b) => { b.stake.amount = "0"; }), "target-100": withBet((b) => { b.crash.autoCashOutE2 = 100; }), "page-without-token": [{ rounds: [] }], "a-number": [7], "a-text": ["round"], "list-of-lists": [[[newRound(5)]]],
};

function write(folder) {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const index = [];
  const put = (file, content, verdict, check, kept = {}) => { fs.writeFileSync(path.join(folder, file), content); index.push({ file, verdict, check, ...kept }); };
  const again = (file, verdict, check, kept) => index.push({ file, verdict, check, ...kept });
  const text = (answers) => answers.map((answer) => JSON.stringify(answer)).join("\n") + "\n";
  const NONE = "TERMINAL NOT CONFIRMED";
  for (const [name, answers] of Object.entries(good)) put(`good-${name}.json`, text(answers), NONE, "");
  for (const [check, documents] of Object.entries(faults)) for (const [name, answers] of Object.entries(documents)) put(`${check}-${name}.json`, text(answers), "FAILED", check);
  for (const [name, answers] of Object.entries(unusable)) put(`format-${name}.json`, text(answers), "UNUSABLE", "format");
  const line = JSON.stringify(newRound(5));
  put("good-keys-reversed.json", JSON.stringify(Object.fromEntries(Object.entries(newRound(5)).reverse()), null, 2), NONE, "");
  put("good-page-keys-reversed.json", JSON.stringify({ nextPageToken: "abc", rounds: range(5, 6) }), NONE, "");
  put("good-without-spaces-between.json", range(5, 8).map((r) => JSON.stringify(r)).join(""), NONE, "");
  put("format-key-twice.json", line.replace('"number":', '"number":5,"number":'), "UNUSABLE", "format");
  put("format-trailing-text.json", line + "x", "UNUSABLE", "format");
  put("format-comma-between.json", line + "," + line, "UNUSABLE", "format");
  put("format-truncated.json", line.slice(0, -20), "UNUSABLE", "format");
  put("format-byte-order-mark.json", "\ufeff" + line, "UNUSABLE", "format");
  put("numbers-empty.json", "\n", "FAILED", "numbers");
  const terminal = TERMINAL, salt = SALT;
  for (const name of ["page", "whole", "one-round", "void-rounds", "whole-with-table"]) {
    again(`good-${name}.json`, "VERIFIED", "", { terminal, salt });
    again(`good-${name}.json`, "SALT NOT CONFIRMED", "", { terminal });
    again(`good-${name}.json`, NONE, "", { salt });
    again(`good-${name}.json`, "FAILED", "terminal", { terminal: hash("x"), salt });
    again(`good-${name}.json`, "FAILED", "salt", { terminal, salt: hash("x") });
  }
  again("good-one-round.json", "FAILED", "terminal", { terminal: link(5) });
  again("good-beacon.json", "VERIFIED", "", { terminal });
  again("good-beacon.json", "FAILED", "salt", { terminal, salt });
  again("good-without-networks.json", "VERIFIED", "", { terminal });
  again("good-test-beacon.json", "SALT NOT CONFIRMED", "", { terminal });
  again("good-drand.json", "VERIFIED", "", { terminal, salt: drandSalt.value });
  again("good-drand.json", "SALT NOT CONFIRMED", "", { terminal });
  fs.writeFileSync(path.join(folder, "index.json"), "[\n" + index.map((entry) => JSON.stringify(entry)).join(",\n") + "\n]\n");
}

write(process.argv[2]);
