// Checks rounds of a crash table of the scheme crash-v1 without trusting the house. No library, nothing to install:
//
//   node crash.js FILE [--terminal HEX] [--salt HEX]
//   node crash.js round --table main --number N --hash HEX --salt HEX [--terminal HEX]
//   node crash.js growth [MULTIPLIER]                     growth-v1: when a round reaches it; without one the digest of all
//
// FILE holds what GET /v1/crash/tables/TABLE/rounds and .../rounds/N answered, one answer after the other or in a list; also
// that of .../tables/TABLE, and of /v1/rounds?game=CRASH, so that your bets are checked, too. Terminal and salt are those
// that you noted before you played. The strict reader of JSON is that of verify.js beside this file. In a browser, load this
// after verify.js and duel.js; the object `originalsCrash` has the same functions.
"use strict";
(function () {
const node = typeof module === "object" && module.exports;
const v = node ? require("./verify.js") : originals;
const { text, word, number, list, record, hex64, time, id, anyText, decimal, money, quote } = v.forms;

// ---- 1. Hashes ----------------------------------------------------------------------------------------------------------

const { sha256, hmac } = node ? nodeHashes() : originalsDuel; // from bytes to bytes
function nodeHashes() {
  const crypto = require("crypto");
  return { sha256: (bytes) => crypto.createHash("sha256").update(Uint8Array.from(bytes)).digest(), hmac: (key, message) => crypto.createHmac("sha256", Uint8Array.from(key)).update(Uint8Array.from(message)).digest() };
}
const hexBytes = (hex) => Array.from(hex.match(/../g) || [], (pair) => parseInt(pair, 16));
const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

// ---- 2. crash-v1 --------------------------------------------------------------------------------------------------------
// h[i-1]  = SHA-256(h[i]) over the 32 raw bytes; h[0] is the terminal, and round r uses h[r]
// digest  = HMAC-SHA256(key = h[r], message = table ":" r ":" salt)
// h       = the first 13 hex digits of the digest, 52 bits
// crash   = floor((100 * 2^52 - h) / (2^52 - h)) hundredths, at least 100 and at most 1000000

const before = (hash, steps = 1) => { // the hash of so many rounds before
  let bytes = hexBytes(hash);
  for (let i = 0; i < steps; i++) bytes = sha256(bytes);
  return hex(bytes);
};
const digestOf = (hash, table, number, salt) => hex(hmac(hexBytes(hash), Array.from(`${table}:${number}:${salt}`, (c) => c.charCodeAt(0))));
function pointOf(h) {
  const E = 1n << 52n, point = (100n * E - h) / (E - h);
  return Number(point < 100n ? 100n : point > 1000000n ? 1000000n : point);
}
const crashOf = (hash, table, number, salt) => pointOf(BigInt("0x" + digestOf(hash, table, number, salt).slice(0, 13)));
const payoutOf = (stake, targetE2) => stake * BigInt(targetE2) / 100n; // of a win

// ---- 3. growth-v1 -------------------------------------------------------------------------------------------------------
// first_us[m] = ceil(10^9 * ln(m / 100) / 60), the microsecond at which m hundredths are reached. ln((m+1)/m) is
// 2 * (x + x^3/3 + x^5/5 + ...) for x = 1/(2m+1), here in whole numbers with 128 bits behind the point. Every division is
// floored: a million of them fall short by less than 2^-100, and no sum comes that close below a whole number.

function* growth() { // yields [m, first_us[m]] for 100, 101, ..., 1000001
  const BITS = 128n;
  let sum = 0n;
  yield [100, 0];
  for (let m = 100n; m <= 1000000n; m++) {
    const x = 2n * m + 1n;
    let term = (10n ** 9n << BITS) / (30n * x);
    for (let k = 1n; term > 0n; k += 2n, term /= x * x) sum += term / k;
    yield [Number(m) + 1, Number(sum >> BITS) + 1]; // never whole, so the ceiling is one more
  }
}
function growthDigest() {
  const bytes = [];
  for (const [, us] of growth()) bytes.push(us >>> 24, (us >>> 16) & 0xff, (us >>> 8) & 0xff, us & 0xff);
  return hex(sha256(bytes));
}
const GROWTH_DIGEST = "f18be2388cb3a73bea7281b3d01d14e290eaf9f32ff40f98d2baec354c121c30";

// ---- 4. The answers, field by field ---------------------------------------------------------------------------------------

const UINT = 2 ** 32 - 1, LARGEST = 2n ** 53n - 1n;
const emptyOr = (form) => (value, at) => { if (value !== "") form(value, at); };
const tableName = text(/^[a-z0-9-]{1,32}$/, "a table: 1 to 32 of a-z 0-9 -"), pointE2 = number(100, 1000000);
const signature = emptyOr(text(/^[0-9a-f]{96}$/, "96 lower-case hex digits, or nothing"));
const saltRecord = record({ kind: word("SELF_CHOSEN", "BITCOIN_BLOCK", "DRAND"), value: emptyOr(hex64), named: decimal(0n, LARGEST), signature }, { network: emptyOr(hex64) });
const beaconRecord = record({ round: decimal(0n, LARGEST), randomness: emptyOr(hex64), signature }, { network: emptyOr(hex64) });
const state = word("OPEN", "SETTLED", "VOID"), nothing = text(/^$/, "nothing");
const betRecord = record({
  roundId: id, betId: text(/^[A-Za-z0-9_-]{1,40}$/, "1 to 40 of A-Z a-z 0-9 _ -"), game: word("CRASH"), scheme: word("crash-v1"), state,
  seedPairId: nothing, commitment: nothing, clientSeed: nothing, nonce: number(0, 0), stake: money(1n), payout: money(0n), multiplierE4: decimal(0n, 100000000n), createTime: time,
  crash: record({ table: tableName, number: number(1, UINT), autoCashOutE2: number(101, 1000000), cashOutE2: number(0, 1000000) }, { crashE2: pointE2 }),
}, { settleTime: time, balance: money(0n) });
const roundRecord = record(
  { table: tableName, number: number(1, UINT), state, scheme: word("crash-v1"), terminal: hex64, voidReason: emptyOr(text(/^[A-Z_]{1,64}$/, "nothing, or a reason such as STORE_REPLACED")), betCount: number(0, 2 ** 31 - 1) },
  { hash: hex64, crashE2: pointE2, salt: saltRecord, beacon: beaconRecord, openTime: time, lockTime: time, startTime: time, crashTime: time, bet: betRecord });
const nextRecord = record({ table: tableName, terminal: hex64, chainLength: number(1, UINT) }, { salt: saltRecord, beacon: beaconRecord, announceTime: time });
const tableRecord = record({
  table: tableName, scheme: word("crash-v1"), growth: word("growth-v1"), growthSha256: hex64, phase: word("BETTING", "CLOSING", "RUNNING", "CRASHED", "STOPPED"), number: number(0, UINT),
  terminal: hex64, chainLength: number(1, UINT), nextTerminal: emptyOr(hex64), timings: record({ bettingMs: number(0, UINT), crashedMs: number(0, UINT), tickMs: number(0, UINT) }),
  serverTime: time, multiplierE2: pointE2, bets: list(betRecord, 0, UINT),
}, { salt: saltRecord, beacon: beaconRecord, lockTime: time, startTime: time, crashE2: pointE2, next: nextRecord, previous: emptyOr(tableName), end: emptyOr(hex64) });
const pageRecord = record({ rounds: list((one, at) => (has(one, "roundId") ? betRecord : roundRecord)(one, at), 0, UINT), nextPageToken: anyText });
const has = (value, key) => value !== null && typeof value === "object" && key in value;

// answersOf returns the texts of the answers that stand one after the other.
function answersOf(all) {
  const answers = [];
  let depth = 0, start = -1, quoted = false;
  for (let at = 0; at < all.length; at++) {
    const c = all[at];
    if (quoted) {
      if (c === "\\") at++;
      else if (c === '"') quoted = false;
      continue;
    }
    if (depth === 0 && start < 0 && " \t\r\n".includes(c)) continue;
    if (start < 0) start = at;
    if (c === '"') quoted = true;
    if ("{[".includes(c)) depth++;
    if ("}]".includes(c)) depth--;
    if (depth === 0 && !quoted) { answers.push(all.slice(start, at + 1)); start = -1; }
  }
  if (start >= 0) answers.push(all.slice(start));
  return answers;
}

// readAnswers returns { rounds, tables, bets }.
function readAnswers(all) {
  const read = { rounds: [], tables: [], bets: [] };
  const take = (one, at) => {
    if (has(one, "rounds") || has(one, "nextPageToken")) { pageRecord(one, at); one.rounds.forEach(sort); }
    else if (has(one, "phase") || has(one, "growth") || has(one, "chainLength")) { tableRecord(one, at); sort(one); }
    else { (has(one, "roundId") || has(one, "betId") ? betRecord : roundRecord)(one, at); sort(one); }
  };
  const sort = (one) => {
    if (has(one, "roundId")) return read.bets.push(one);
    if (has(one, "phase")) { read.tables.push(one); return read.bets.push(...one.bets); }
    if (one.bet) read.bets.push(one.bet);
    if ((one.state === "OPEN") !== (one.hash === undefined)) throw new v.Unusable(`round ${one.number}: a round that has ended has a hash, and an OPEN one has none`);
    read.rounds.push(one);
  };
  for (const answer of answersOf(all)) {
    const value = v.parseJSON(answer);
    if (Array.isArray(value)) value.forEach((one, i) => take(one, `answers[${i}]`));
    else take(value, "answer");
  }
  return read;
}

// ---- 5. The checks --------------------------------------------------------------------------------------------------------

const CHECKS = { // in this order; the first that fails gives the verdict its name
  format: "the answers are complete and well-formed",
  terminal: "all of it is about one table and one chain, whose terminal is the one that was announced",
  numbers: "every number from the first to the last is there, and every round ended as the rules allow",
  chain: "every hash leads to that of the round before, and the first one to the terminal",
  salt: "the salt is one for all rounds, or that of the beacon that each round had named",
  crash: "every crash point follows from the hash and the salt",
  bet: "every bet was won, lost and paid by the rules",
};
const QUICKNET = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971";
const publishedAt = (round) => 1692803367n + 3n * (BigInt(round) - 1n); // Unix seconds
const same = (a, b) => JSON.stringify(sorted(a)) === JSON.stringify(sorted(b));
const sorted = (value) => value !== null && typeof value === "object" ? Object.keys(value).sort().map((key) => [key, sorted(value[key])]) : value;

// checkCrash returns a report as checkEvidence does. kept is what the player wrote down: { terminal, salt }.
function checkCrash(fileText, kept = {}) {
  const report = { failures: {}, notes: [], summary: "", verdict: "" };
  const fail = (check, words) => (report.failures[check] = report.failures[check] || []).push(words);
  const note = (words) => { if (!report.notes.includes(words)) report.notes.push(words); };
  let all;
  try { all = readAnswers(fileText); } catch (error) {
    if (!(error instanceof v.Unusable)) throw error;
    fail("format", error.message);
    return { ...report, verdict: "UNUSABLE (format)" };
  }
  const count = { open: all.rounds.filter((r) => r.state === "OPEN").length, saltless: 0, strayed: 0, unpaid: 0, unknown: 0 };
  const rounds = oneEach(all.rounds.filter((r) => r.state !== "OPEN"), fail), bets = betsOnce(all.bets, fail);
  if (rounds.length === 0) fail("numbers", "there is no round that has ended");
  else {
    checkTerminal(rounds, kept, fail);
    checkNumbers(rounds, fail, note);
    checkChain(rounds, fail);
    for (const r of rounds) {
      const salt = saltOf(r, rounds[0], kept, count, fail, note);
      if (salt) checkPoint(r, salt, fail);
    }
    for (const t of all.tables) checkTable(t, rounds, fail);
    for (const b of bets) checkBet(b, rounds, count, fail);
  }
  if (count.open) note(`left out, for they have no hash before they have ended: rounds that are OPEN (${count.open})`);
  if (count.saltless) note(`not checked, for they never got a salt: crash points of void rounds (${count.saltless})`);
  if (count.strayed) note(`not checked, for their rounds are not in the file or have not ended: bets (${count.strayed})`);
  if (count.unpaid) note(`not settled yet: bets (${count.unpaid})`);
  report.verdict = "VERIFIED";
  if (kept.terminal === undefined) {
    report.verdict = "CONSISTENT, TERMINAL NOT CONFIRMED";
    note("give the terminal that you were shown before you played with --terminal; without it the answers only agree with themselves");
  } else if (kept.salt === undefined && (count.unknown || rounds.some((r) => !r.beacon))) {
    report.verdict = "CONSISTENT, SALT NOT CONFIRMED";
    note("give the salt that you were shown before you played with --salt, or that you have looked up; without it another one might have been put in its place");
  }
  const first = Object.keys(CHECKS).find((check) => report.failures[check]);
  if (first) report.verdict = `FAILED (${first})`;
  report.summary = summarize(rounds, bets);
  return report;
}

// oneEach returns the rounds by number, each once.
function oneEach(all, fail) {
  const rounds = [];
  const bare = ({ bet, betCount, openTime, crashTime, ...rest }) => rest;
  for (const r of [...all].sort((a, b) => a.number - b.number)) {
    const last = rounds[rounds.length - 1];
    if (!last || last.number !== r.number) rounds.push(r);
    else if (!same(bare(last), bare(r))) fail("numbers", `round ${r.number} stands twice, and the two differ`);
  }
  return rounds;
}

// betsOnce returns the bets, each as the answer shows it that knows most: one that waits may enter a later round than it was told.
function betsOnce(all, fail) {
  const bets = [], bare = ({ balance, crash: { crashE2, ...crash }, ...rest }) => ({ ...rest, crash });
  const by = (key) => (a, b) => key(a).map((x, i) => (x < key(b)[i] ? -1 : x > key(b)[i] ? 1 : 0)).find((x) => x !== 0) || 0;
  for (const b of [...all].sort(by((b) => [b.roundId, b.state === "OPEN" ? 1 : 0, b.crash.number]))) {
    const last = bets[bets.length - 1];
    if (!last || last.roundId !== b.roundId) bets.push(b);
    else if (b.state !== "OPEN" && !same(bare(last), bare(b))) fail("bet", `bet in round ${last.crash.number}: it stands twice, and the two differ`);
  }
  return bets.sort(by((b) => [b.crash.number, b.roundId]));
}

function sameChain(what, one, first, fail) {
  if (one.table !== first.table) fail("terminal", `${what} is of the table ${one.table}, and others are of ${first.table}: check each table by itself`);
  else if (one.terminal !== first.terminal) fail("terminal", `${what} has the terminal ${one.terminal}, and others have ${first.terminal}`);
}
function checkTerminal(rounds, kept, fail) {
  const first = rounds[0];
  for (const r of rounds.slice(1)) sameChain(`round ${r.number}`, r, first, fail);
  if (kept.terminal === undefined || kept.terminal === first.terminal) return;
  fail("terminal", `you kept the terminal ${kept.terminal}, and that of these rounds is ${first.terminal}: ${kept.terminal === first.hash ? "what you gave is the hash of a round" : "another chain, or another promise"}`);
}
function checkNumbers(rounds, fail, note) {
  rounds.forEach((r, i) => {
    const bad = (words) => fail("numbers", `round ${r.number}: ${words}`);
    if ((r.state === "VOID") !== (r.voidReason !== "")) bad("a round is VOID for a reason, and only then has one");
    if (r.state === "VOID" && r.startTime !== undefined) bad("it was running, and such a round is never void");
    if (i === 0 || r.number === rounds[i - 1].number + 1) return;
    const from = rounds[i - 1].number + 1, to = r.number - 1;
    fail("numbers", `${from === to ? `round ${to} is` : `rounds ${from} to ${to} are`} missing: every number has to be listed, also of rounds that are VOID`);
  });
  if (rounds[0].number > 1) note(`the rounds before ${rounds[0].number} are not in the file`);
}
function checkChain(rounds, fail) {
  let last = { hash: rounds[0].terminal, number: 0 };
  for (const r of rounds) {
    if (before(r.hash, r.number - last.number) !== last.hash) {
      fail("chain", `round ${r.number}: ${last.number ? `its hash does not lead to that of round ${last.number}` : `${r.number} hashes do not lead to the terminal${numberHint(r, last.hash)}`}`);
    }
    last = r;
  }
}
function numberHint(r, terminal) { // of which round it is
  if (r.hash === terminal) return "; it is that one itself";
  let bytes = hexBytes(r.hash);
  const found = Array.from({ length: r.number + 1 }, () => hex(bytes = sha256(bytes))).indexOf(terminal) + 1;
  return found ? `; it does after ${found}: is it the hash of round ${found}?` : "; it is of another chain";
}

// saltOf returns the salt of a round, or nothing.
function saltOf(r, first, kept, count, fail, note) {
  const bad = (words) => { fail("salt", words); };
  if (r.salt && r.beacon) return bad(`round ${r.number} has a salt and a beacon`);
  if (r.beacon) return beaconSalt(r, kept, count, fail, note);
  if (!r.salt || r.salt.value === "") {
    if (r.state !== "VOID") bad(`round ${r.number} has no salt`);
    else if (r.crashE2 !== undefined) fail("crash", `round ${r.number}: it has no salt, and a crash point`);
    count.saltless++;
    return;
  }
  const { kind, value, named } = r.salt;
  if (r !== first && first.salt) {
    if (!same(r.salt, first.salt)) bad(`round ${r.number} has the salt ${value}, and others have ${first.salt.value}`);
    return value;
  }
  if (kept.salt !== undefined && kept.salt !== value) bad(`you kept the salt ${kept.salt}, and that of round ${r.number} is ${value}: another chain, or another promise`);
  if (kind === "SELF_CHOSEN") note("the salt is self-chosen: the operator could have chosen these outcomes");
  if (kind === "BITCOIN_BLOCK") note(`the salt is called the hash of Bitcoin block ${named}, named in advance: look it up in an explorer`);
  if (kind === "DRAND") {
    note(`the salt is called that of drand round ${named}: see that this round was named before it was published`);
    checkSignature(r.number, { ...r.salt, randomness: value }, count, fail, note);
  }
  note("with one salt for all rounds, whoever holds the chain knows every crash point");
  return value;
}
function beaconSalt(r, kept, count, fail, note) {
  const { round, randomness, network } = r.beacon;
  if (kept.salt !== undefined) fail("salt", `you kept the salt ${kept.salt}, and round ${r.number} is salted by a beacon`);
  if (randomness === "") {
    if (r.state !== "VOID") fail("salt", `round ${r.number}: its beacon is missing`);
    else if (r.crashE2 !== undefined) fail("crash", `round ${r.number}: its beacon was not published, and it has a crash point`);
    count.saltless++;
    return;
  }
  checkSignature(r.number, r.beacon, count, fail, note);
  if ((network && network !== QUICKNET) || r.state === "VOID") return randomness; // a calendar that is not known here, or a late close: so it is void
  if (r.lockTime === undefined) { fail("salt", `round ${r.number}: it does not say when betting closed`); return randomness; }
  const whole = BigInt(Date.parse(r.lockTime.slice(0, 19) + "Z") / 1000), rest = /\.0*[1-9]/.test(r.lockTime) ? 1n : 0n;
  const latest = (whole + rest + 1n - publishedAt(1) + 2n) / 3n + 1n; // the smallest R with time(R) >= lock time + 1 s
  if (publishedAt(round) <= whole) fail("salt", `round ${r.number}: its beacon ${round} was published before betting closed`);
  else if (BigInt(round) > latest) fail("salt", `round ${r.number}: its beacon is ${round}, and by the time at which betting closed it is ${latest} at the latest`);
  return randomness;
}
function checkSignature(number, beacon, count, fail, note) {
  if (hex(sha256(hexBytes(beacon.signature))) !== beacon.randomness) return fail("salt", `round ${number}: the randomness is not the SHA-256 of the beacon's signature`);
  if (!beacon.network || beacon.network === QUICKNET) return note("whose signatures those of the beacon are was not checked here: that needs BLS12-381. Compare them with those that drand publishes");
  count.unknown++;
  note(`the beacon's network ${beacon.network} is not drand's quicknet: whoever runs it could know these outcomes`);
}

function checkPoint(r, salt, fail) {
  if (r.crashE2 === undefined) return fail("crash", `round ${r.number} has no crash point`);
  const at = (n) => crashOf(r.hash, r.table, n, salt), right = at(r.number);
  if (right === r.crashE2) return;
  const near = [r.number - 1, r.number + 1].find((n) => n > 0 && at(n) === r.crashE2);
  const hint = near ? ` (number ${near} would give it: is it off by one?)` : crashOf(salt, r.table, r.number, r.hash) === r.crashE2 ? " (hash and salt are swapped)" : "";
  fail("crash", `round ${r.number}: the crash point is stated as ${r.crashE2}, and hash and salt give ${right}${hint}`);
}

function checkTable(t, rounds, fail) {
  const first = rounds[0], last = rounds[rounds.length - 1], shown = rounds.find((r) => r.number === t.number);
  sameChain("the answer about the table", t, first, fail);
  if (t.number > t.chainLength || last.number > t.chainLength) fail("terminal", `the chain has ${t.chainLength} links, and there is a round ${Math.max(t.number, last.number)}`);
  if (t.growthSha256 !== GROWTH_DIGEST) fail("terminal", `the growth of the multiplier has the digest ${t.growthSha256}, and growth-v1 has ${GROWTH_DIGEST}`);
  if (t.salt && t.salt.value !== "" && first.salt && !same(t.salt, first.salt)) fail("salt", `the table has the salt ${t.salt.value}, and its rounds have ${first.salt.value}`);
  if (shown && t.crashE2 !== undefined && t.crashE2 !== shown.crashE2) fail("crash", `round ${t.number}: the table shows the crash point ${t.crashE2}, and the round ${shown.crashE2 || 0}`);
  if (t.end && last.number <= t.chainLength && before(t.end, t.chainLength - last.number) !== last.hash) fail("chain", `the end of the chain does not lead to the hash of round ${last.number}`);
}

function checkBet(b, rounds, count, fail) {
  const { table, number, autoCashOutE2: auto, cashOutE2: cashed, crashE2 } = b.crash;
  const bad = (words) => fail("bet", `bet in round ${number}: ${words}`), r = rounds.find((one) => one.number === number);
  const stake = BigInt(b.stake.amount), payout = BigInt(b.payout.amount);
  if (b.stake.currency !== b.payout.currency) bad(`staked in ${b.stake.currency}, paid in ${b.payout.currency}`);
  if (!r || table !== r.table) return void count.strayed++;
  if (b.state === "OPEN") return void count.unpaid++;
  if (b.state === "VOID") { // cancelled, or the round is void
    if (payout !== stake || b.multiplierE4 !== "0" || cashed !== 0) bad(`a void bet gets its stake of ${stake} back, and this one got ${payout} at ${b.multiplierE4}`);
    return;
  }
  if (r.state === "VOID") return bad("it is SETTLED, and its round is VOID");
  const point = r.crashE2 || 0;
  if (crashE2 !== undefined && crashE2 !== point) bad(`it shows the crash point ${crashE2}, and the round ${point}`);
  else if (cashed === 0 && auto <= point) bad(`it lost, and its automatic cash-out at ${auto} was reached: the crash point is ${point}`);
  else if (cashed !== 0 && (cashed < 101 || cashed > auto || cashed > point)) bad(`it was cashed out at ${cashed}, which is not from 101 to its target ${auto} and the crash point ${point}`);
  if (b.multiplierE4 !== String(100 * cashed)) bad(`the multiplier is ${b.multiplierE4}, and it should be ${100 * cashed} (in 1/10000)`);
  if (payout !== payoutOf(stake, cashed)) bad(`the payout is ${payout}, and it should be ${payoutOf(stake, cashed)}`);
}

function summarize(rounds, bets) {
  if (rounds.length === 0) return "no round";
  const sum = (of) => {
    const sums = new Map();
    for (const b of bets) sums.set(b[of].currency, (sums.get(b[of].currency) || 0n) + BigInt(b[of].amount));
    return [...sums].map(([currency, units]) => `${units} units of ${currency}`).join(", ") || "nothing";
  };
  return `rounds ${rounds[0].number} to ${rounds[rounds.length - 1].number} of ${rounds[0].table}, of which void: ${rounds.filter((r) => r.state === "VOID").length}; bets: ${bets.length}; staked ${sum("stake")}; paid ${sum("payout")}`;
}

const crashFunctions = { sha256, hmac, hex, hexBytes, before, digestOf, pointOf, crashOf, payoutOf, growth, growthDigest, publishedAt, checkCrash, CHECKS, GROWTH_DIGEST };

// ---- 6. The command line (Node only) ----------------------------------------------------------------------------------------

const { line, readFile, printReport } = v;

function commandFile(file, flags) {
  for (const name of ["terminal", "salt"]) if (name in flags) hex64(flags[name], `--${name}`);
  return printReport(checkCrash(readFile(file), flags), CHECKS);
}

function commandRound(flags) {
  tableName(flags.table, "--table");
  text(/^[1-9][0-9]{0,9}$/, "a number from 1 to 4294967295")(flags.number, "--number");
  number(1, UINT)(Number(flags.number), "--number");
  for (const name of ["hash", "salt"]) hex64(flags[name], `--${name}`);
  if (flags.terminal !== undefined) hex64(flags.terminal, "--terminal");
  const terminal = before(flags.hash, Number(flags.number));
  line("terminal", terminal);
  line("digest", digestOf(flags.hash, flags.table, flags.number, flags.salt));
  line("crashE2", String(crashOf(flags.hash, flags.table, flags.number, flags.salt)));
  const failed = flags.terminal !== undefined && flags.terminal !== terminal;
  if (failed) line("chain", `FAILED  ${flags.number} hashes do not lead to the terminal${numberHint({ hash: flags.hash, number: Number(flags.number) }, flags.terminal)}`);
  line("note", "see that the salt is the one that you were shown before you played: whoever could choose it could choose this outcome");
  line("verdict", failed ? "FAILED (chain)" : flags.terminal === undefined ? "CONSISTENT, TERMINAL NOT CONFIRMED" : "VERIFIED");
  return failed ? 1 : 0;
}

function commandGrowth(multiplier) {
  if (multiplier === undefined) { line("growth-v1", growthDigest()); return 0; }
  text(/^[1-9][0-9]{2,6}$/, "hundredths from 100 to 1000001")(multiplier, "growth");
  number(100, 1000001)(Number(multiplier), "growth");
  for (const [m, us] of growth()) if (m === Number(multiplier)) line("growth-v1", `${multiplier} hundredths after ${us} microseconds`);
  return 0;
}

function main(args) {
  const command = args.shift();
  const allowed = command === "round" ? ["table", "number", "hash", "salt", "terminal"] : ["terminal", "salt"];
  if (command === undefined || command.startsWith("--")) {
    console.error("usage: crash.js FILE [--terminal HEX] [--salt HEX] | round ... | growth [MULTIPLIER] | vectors   (see the first lines of this file)");
    return 2;
  }
  if (command === "vectors" && args.length === 0) { process.stdout.write(require("./crashvectors.js").vectorsFile()); return 0; }
  try {
    if (command === "growth" && args.length < 2) return commandGrowth(args[0]);
    const flags = {};
    while (args.length > 0) {
      const flag = args.shift(), name = flag.replace(/^--/, "");
      if (!flag.startsWith("--") || !allowed.includes(name)) throw new v.Unusable(`${quote(flag)}: unknown; known are --${allowed.join(" --")}`);
      if (args.length === 0 || name in flags) throw new v.Unusable(`${quote(flag)}: wants one value, once`);
      flags[name] = args.shift();
    }
    return command === "round" ? commandRound(flags) : commandFile(command, flags);
  } catch (error) {
    if (!(error instanceof v.Unusable)) throw error;
    line("format", `FAILED  ${error.message}`);
    line("verdict", "UNUSABLE (format)");
    return 2;
  }
}

if (node) {
  module.exports = { ...crashFunctions, main };
  if (require.main === module) process.exitCode = main(process.argv.slice(2));
} else globalThis.originalsCrash = crashFunctions;
})();
