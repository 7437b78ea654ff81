#!/usr/bin/env node
// Checks bets of the scheme originals-v1 without trusting the house. One file, no library, nothing to install:
//
//   node verify.js evidence FILE [--commitment HEX] [--last-nonce N | --last-ply N]
//   node verify.js round --server-seed HEX --client-seed TEXT --nonce N [--commitment HEX] [--stake UNITS]
//                  --dice '{"target":5050,"direction":"OVER"}' | --limbo '{"targetE2":200}' |
//                  --roulette '{"chips":[{"kind":"STRAIGHT","numbers":[17],"amount":"100"}]}' | --mines '{"mineCount":3,"picks":[0,1]}'
//
// An evidence file of dice for two seats is checked by duel.js beside this file. Sections 1 to 6 also run in a browser: load this file in a page, then use the object `originals`.
// Everything is counted in whole numbers: money in the currency's smallest unit, multipliers in 1/10000 (E4).
"use strict";

// ---- 1. Keccak: the permutation under SHA3-256 and SHAKE256 (FIPS 202) ------------------------------------------------
// The state is 25 lanes of 64 bits. Lane x + 5y is kept as two 32-bit halves: s[2(x+5y)] is the low one, the next the high one.

const ROUND_CONSTANTS = ( // high and low half of each of the 24
  "00000000 00000001 00000000 00008082 80000000 0000808a 80000000 80008000 00000000 0000808b 00000000 80000001 " +
  "80000000 80008081 80000000 00008009 00000000 0000008a 00000000 00000088 00000000 80008009 00000000 8000000a " +
  "00000000 8000808b 80000000 0000008b 80000000 00008089 80000000 00008003 80000000 00008002 80000000 00000080 " +
  "00000000 0000800a 80000000 8000000a 80000000 80008081 80000000 00008080 00000000 80000001 80000000 80008008"
).split(" ").map((half) => parseInt(half, 16));

function keccak(s) {
  const c = new Int32Array(10);
  for (let round = 0; round < 24; round++) {
    // theta: every bit takes in the parity of two neighbouring columns
    for (let i = 0; i < 10; i++) c[i] = s[i] ^ s[i + 10] ^ s[i + 20] ^ s[i + 30] ^ s[i + 40];
    for (let x = 0; x < 5; x++) {
      const left = 2 * ((x + 4) % 5), right = 2 * ((x + 1) % 5);
      const low = c[left] ^ ((c[right] << 1) | (c[right + 1] >>> 31));
      const high = c[left + 1] ^ ((c[right + 1] << 1) | (c[right] >>> 31));
      for (let i = 2 * x; i < 50; i += 10) { s[i] ^= low; s[i + 1] ^= high; }
    }
    // rho and pi: turn each lane by its own distance and move it
    let x = 1, y = 0, low = s[2], high = s[3];
    for (let t = 0; t < 24; t++) {
      [x, y] = [y, (2 * x + 3 * y) % 5];
      let turn = ((t + 1) * (t + 2) / 2) % 64;
      if (turn >= 32) { [low, high] = [high, low]; turn -= 32; }
      const turnedLow = turn ? (low << turn) | (high >>> (32 - turn)) : low;
      const turnedHigh = turn ? (high << turn) | (low >>> (32 - turn)) : high;
      const lane = 2 * (x + 5 * y);
      low = s[lane]; high = s[lane + 1];
      s[lane] = turnedLow; s[lane + 1] = turnedHigh;
    }
    // chi: the only step that is not linear
    for (let row = 0; row < 50; row += 10) {
      for (let i = 0; i < 10; i++) c[i] = s[row + i];
      for (let i = 0; i < 10; i++) s[row + i] = c[i] ^ (~c[(i + 2) % 10] & c[(i + 4) % 10]);
    }
    // iota
    s[0] ^= ROUND_CONSTANTS[2 * round + 1]; s[1] ^= ROUND_CONSTANTS[2 * round];
  }
}

// sponge absorbs bytes and returns a function that gives one output byte at each call, without end.
// SHA3-256 (suffix 0x06) and SHAKE256 (suffix 0x1f) both work in blocks of 136 bytes.
function sponge(bytes, suffix) {
  const s = new Int32Array(50), block = 136;
  const mix = (at, byte) => { s[at >> 2] ^= byte << (8 * (at & 3)); };
  let at = 0;
  for (const byte of bytes) {
    mix(at++, byte);
    if (at === block) { keccak(s); at = 0; }
  }
  mix(at, suffix); mix(block - 1, 0x80);
  at = block;
  return () => {
    if (at === block) { keccak(s); at = 0; }
    const byte = (s[at >> 2] >>> (8 * (at & 3))) & 0xff;
    at++;
    return byte;
  };
}

const asciiBytes = (text) => Array.from(text, (character) => character.charCodeAt(0));
const hexBytes = (hex) => hex.match(/../g).map((pair) => parseInt(pair, 16));
function sha3(bytes) {
  const next = sponge(bytes, 0x06);
  return Array.from({ length: 32 }, () => next().toString(16).padStart(2, "0")).join("");
}

// ---- 2. From the seeds to a stream of numbers ------------------------------------------------------------------------
// commitment = hex(SHA3-256(server seed text))                the 64 hex digits are hashed as text, not as 32 bytes
// signature  = hex(SHA3-256(server seed text ":" client seed ":" nonce))
// stream     = SHAKE256(signature text), read 4 or 8 bytes at a time, big-endian

const commitmentOf = (serverSeed) => sha3(asciiBytes(serverSeed));
const signatureOf = (serverSeed, clientSeed, nonce) => sha3(asciiBytes(`${serverSeed}:${clientSeed}:${nonce}`));

function streamOf(signature) {
  const next = sponge(asciiBytes(signature), 0x1f);
  const word32 = () => next() * 0x1000000 + next() * 0x10000 + next() * 0x100 + next();
  const word64 = () => (BigInt(word32()) << 32n) | BigInt(word32());
  return { word32, word64 };
}

// uniform draws 0..n-1, each equally likely: words at or above the largest multiple of n are rejected and drawn again.
function uniform(stream, n) {
  const limit = Math.floor(2 ** 32 / n) * n;
  for (;;) {
    const word = stream.word32();
    if (word < limit) return word % n;
  }
}

// ---- 3. The games ----------------------------------------------------------------------------------------------------
// problem(bet) says why the rules do not allow a bet, or "".
// play(bet, stake, stream) gives what was drawn, the flag that tells how it went, multiplier and payout (0 when lost).

const payoutOf = (stake, multiplierE4) => stake * multiplierE4 / 10000n; // BigInt division: the floor

function won(win, multiplierE4, stake) {
  const paid = win ? multiplierE4 : 0n;
  return { flag: { win }, multiplierE4: paid, payout: payoutOf(stake, paid) };
}

// dice: roll = uniform(10000). OVER t wins if roll > t, UNDER t if roll < t. With w winning rolls it pays floor(99000000 / w).
const dice = {
  winningRolls: (bet) => (bet.direction === "OVER" ? 9999 - bet.target : bet.target),
  problem(bet) {
    const w = dice.winningRolls(bet);
    return w >= 1 && w <= 9800 ? "" : `${bet.direction} ${bet.target} has ${w} winning rolls; 1 to 9800 are allowed`;
  },
  play(bet, stake, stream) {
    const roll = uniform(stream, 10000);
    const win = bet.direction === "OVER" ? roll > bet.target : roll < bet.target;
    return { drawn: { roll }, ...won(win, 99000000n / BigInt(dice.winningRolls(bet)), stake) };
  },
};

// limbo: v = word64; the outcome in hundredths is floor(99 * 2^64 / (2^64 - v)), held between 100 and 1000000.
// It wins if the outcome is at least the target, and pays the target.
function limboOutcomeE2(v) {
  const outcome = 99n * 2n ** 64n / (2n ** 64n - v);
  return Number(outcome < 100n ? 100n : outcome > 1000000n ? 1000000n : outcome);
}
const limbo = {
  problem: () => "",
  play(bet, stake, stream) {
    const outcomeE2 = limboOutcomeE2(stream.word64());
    return { drawn: { outcomeE2 }, ...won(outcomeE2 >= bet.targetE2, BigInt(bet.targetE2) * 100n, stake) };
  },
};

// roulette: pocket = uniform(37). A chip on n pockets returns 36/n times its amount, stake included.
const RED = [1, 3, 5, 7, 9, 12, 14, 16, 18, 19, 21, 23, 25, 27, 30, 32, 34, 36];
const CHIPS = new Map(); // every legal chip: "SPLIT 0,1" -> the pockets it covers
{
  const pockets = Array.from({ length: 36 }, (_, i) => i + 1); // 1..36; zero stands apart
  const chip = (kind, numbers, covered = numbers) => CHIPS.set(`${kind} ${numbers}`, covered);
  const rowFrom = (n, count) => Array.from({ length: count }, (_, i) => n + i);
  for (const n of [0, ...pockets]) chip("STRAIGHT", [n]);
  for (const n of [1, 2, 3]) chip("SPLIT", [0, n]);
  for (const n of pockets) if (n % 3 !== 0) chip("SPLIT", [n, n + 1]);
  for (const n of pockets) if (n <= 33) chip("SPLIT", [n, n + 3]);
  for (const n of pockets) if (n % 3 === 1) chip("STREET", rowFrom(n, 3));
  chip("TRIO", [0, 1, 2]); chip("TRIO", [0, 2, 3]);
  for (const n of pockets) if (n % 3 !== 0 && n <= 32) chip("CORNER", [n, n + 1, n + 3, n + 4]);
  chip("FIRST_FOUR", [0, 1, 2, 3]);
  for (const n of pockets) if (n % 3 === 1 && n <= 31) chip("SIX_LINE", rowFrom(n, 6));
  for (const d of [1, 2, 3]) chip("DOZEN", [d], rowFrom(12 * d - 11, 12));
  for (const c of [1, 2, 3]) chip("COLUMN", [c], pockets.filter((n) => n % 3 === c % 3));
  chip("RED", [], RED); chip("BLACK", [], pockets.filter((n) => !RED.includes(n)));
  chip("ODD", [], pockets.filter((n) => n % 2 === 1)); chip("EVEN", [], pockets.filter((n) => n % 2 === 0));
  chip("LOW", [], rowFrom(1, 18)); chip("HIGH", [], rowFrom(19, 18));
}
const coveredBy = (chip) => CHIPS.get(`${chip.kind} ${chip.numbers}`);
const chipsTotal = (chips) => chips.reduce((sum, chip) => sum + BigInt(chip.amount), 0n);
const roulette = {
  problem(bet) {
    const wrong = bet.chips.find((chip) => !coveredBy(chip));
    return wrong ? `there is no chip ${wrong.kind} on [${wrong.numbers}]` : "";
  },
  play(bet, stake, stream) { // the stake is the sum of the chips
    const pocket = uniform(stream, 37), total = chipsTotal(bet.chips);
    let payout = 0n;
    for (const chip of bet.chips) {
      const covered = coveredBy(chip);
      if (covered.includes(pocket)) payout += BigInt(chip.amount) * BigInt(36 / covered.length);
    }
    return { drawn: { pocket }, flag: {}, multiplierE4: total ? 10000n * payout / total : 0n, payout };
  },
};

// mines: the mines are drawn one by one out of the tiles 0..24 that are left, which keep their order.
// After k safe picks with m mines it pays floor(9900 * C(25,k) / C(25-m,k)); C(n,k) = n(n-1)..(n-k+1) / k!, and the k! cancel.
function minesMultiplierE4(mineCount, k) {
  if (k === 0) return 0n;
  let above = 9900n, below = 1n;
  for (let i = 0; i < k; i++) { above *= BigInt(25 - i); below *= BigInt(25 - mineCount - i); }
  return above / below;
}
function minesBoard(stream, mineCount) {
  const tiles = Array.from({ length: 25 }, (_, i) => i);
  return Array.from({ length: mineCount }, () => tiles.splice(uniform(stream, tiles.length), 1)[0]);
}
const mines = {
  problem(bet) {
    const most = 25 - bet.mineCount, maxPicks = bet.maxPicks === undefined ? most : bet.maxPicks;
    if (maxPicks > most) return `maxPicks ${maxPicks} with ${bet.mineCount} mines: only ${most} tiles are safe`;
    if (bet.picks.length > maxPicks) return `${bet.picks.length} picks, and the round ends after ${maxPicks}`;
    return new Set(bet.picks).size === bet.picks.length ? "" : "a tile is picked twice";
  },
  play(bet, stake, stream) {
    const board = minesBoard(stream, bet.mineCount), lost = bet.picks.some((tile) => board.includes(tile));
    const multiplierE4 = lost ? 0n : minesMultiplierE4(bet.mineCount, bet.picks.length);
    return { drawn: { mines: board }, flag: { hitMine: lost }, multiplierE4, payout: payoutOf(stake, multiplierE4) };
  },
};

// play derives one round: game is "dice", "limbo", "roulette" or "mines", stake a BigInt, stream that of the signature.
const GAMES = { dice, limbo, roulette, mines };
const play = (game, bet, stake, stream) => GAMES[game].play(bet, stake, stream);

// ---- 4. Strict JSON --------------------------------------------------------------------------------------------------
// JSON.parse keeps the last of two equal keys in silence, so a file could show one value to a person and another to a
// program. This reader refuses that, and numbers that are not whole.

class Unusable extends Error {}

function parseJSON(text) {
  let at = 0;
  const fail = (why) => { throw new Unusable(`not strict JSON at character ${at}: ${why}`); };
  const space = () => { while (at < text.length && " \t\r\n".includes(text[at])) at++; };
  const take = (character) => { space(); if (text[at] !== character) return false; at++; return true; };
  const match = (pattern) => { pattern.lastIndex = at; const found = pattern.exec(text); if (found) at += found[0].length; return found && found[0]; };

  function string() {
    let end = at + 1;
    while (end < text.length && text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    let value;
    try { value = JSON.parse(text.slice(at, end + 1)); } catch { fail("a broken string"); }
    if (/[\ud800-\udfff]/u.test(value)) fail("half a character");
    at = end + 1;
    return value;
  }
  function object(depth) {
    const result = Object.create(null);
    if (take("}")) return result;
    do {
      space();
      if (text[at] !== '"') fail("a key is missing");
      const key = string();
      if (key in result) fail(`the key ${quote(key)} stands twice`);
      if (!take(":")) fail("a colon is missing");
      result[key] = value(depth);
    } while (take(","));
    if (!take("}")) fail("a comma or } is missing");
    return result;
  }
  function array(depth) {
    const result = [];
    if (take("]")) return result;
    do result.push(value(depth)); while (take(","));
    if (!take("]")) fail("a comma or ] is missing");
    return result;
  }
  function value(depth) {
    if (depth > 16) fail("nested too deeply");
    if (take("{")) return object(depth + 1);
    if (take("[")) return array(depth + 1);
    if (text[at] === '"') return string();
    const word = match(/true|false|null/y);
    if (word) return { true: true, false: false, null: null }[word];
    const number = match(/-?[0-9][0-9.eE+-]*/y);
    if (number === null) fail("a value is missing");
    if (!/^(0|[1-9][0-9]{0,9})$/.test(number)) fail(`${number.slice(0, 24)} is not a whole number of at most ten digits`);
    return Number(number);
  }
  const result = value(0);
  space();
  if (at < text.length) fail("something stands after the end");
  return result;
}

// quote shows text from a file so that it cannot play tricks on a terminal.
const quote = (value) => JSON.stringify(value).replace(/[^ -~]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")).slice(0, 90);

// ---- 5. The evidence document, field by field ------------------------------------------------------------------------
// Each of these takes a value and the name of its place, and refuses the document if the value does not fit.

const need = (ok, at, wants, value) => { if (!ok) throw new Unusable(`${at}: wants ${wants}, got ${value === undefined ? "nothing" : quote(value)}`); };
const text = (pattern, wants) => (value, at) => need(typeof value === "string" && pattern.test(value), at, wants, value);
const word = (...words) => (value, at) => need(words.includes(value), at, words.join(" or "), value);
const number = (min, max) => (value, at) => need(typeof value === "number" && value >= min && value <= max, at, `a number from ${min} to ${max}`, value);
const truth = (value, at) => need(typeof value === "boolean", at, "true or false", value);
const decimal = (min, max) => (value, at) => {
  const fits = typeof value === "string" && /^(0|[1-9][0-9]{0,15})$/.test(value) && BigInt(value) >= min && BigInt(value) <= max;
  need(fits, at, `a decimal string from ${min} to ${max}`, value);
};
const list = (item, min, max) => (value, at) => {
  need(Array.isArray(value) && value.length >= min && value.length <= max, at, `a list of ${min} to ${max}`, value);
  value.forEach((element, i) => item(element, `${at}[${i}]`));
};
const record = (fields, optional = {}) => (value, at) => {
  need(value !== null && typeof value === "object" && !Array.isArray(value), at, "an object", value);
  for (const key of Object.keys(value)) if (!Object.hasOwn(fields, key) && !Object.hasOwn(optional, key)) throw new Unusable(`${at}: unknown key ${quote(key)}`);
  for (const key of Object.keys(fields)) fields[key](value[key], `${at}.${key}`);
  for (const key of Object.keys(optional)) if (key in value) optional[key](value[key], `${at}.${key}`);
};

// hex64 wants 64 lower-case hex digits, and names the usual mistake.
function hex64(value, at) {
  if (typeof value === "string" && /^[0-9a-f]{64}$/.test(value)) return;
  let mistake = "";
  if (typeof value === "string") {
    if (/^[ \t\r\n]|[ \t\r\n]$/.test(value)) mistake = ": there is stray white space around it";
    else if (/^0x/i.test(value)) mistake = ": leave the 0x out";
    else if (value.length !== 64) mistake = `: these are ${value.length} characters`;
    else if (/[A-F]/.test(value)) mistake = ": upper-case digits would hash to something else";
    else mistake = ": not all of these are hex digits";
  }
  throw new Unusable(`${at}: wants 64 lower-case hex digits, got ${value === undefined ? "nothing" : quote(value)}${mistake}`);
}
function time(value, at) {
  const wants = "a time like 2025-01-31T23:59:59.123Z";
  text(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.([0-9]{3}|[0-9]{6}|[0-9]{9}))?Z$/, wants)(value, at);
  const [year, month, day, hour, minute, second] = value.match(/[0-9]+/g).map(Number);
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  need(year >= 1 && month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1] && hour < 24 && minute < 60 && second < 60, at, wants, value);
}

const MAX_UNITS = 2n ** 53n - 1n, MAX_NONCE = 2 ** 32 - 2, MAX_MULTIPLIER = 51482970000n;
const id = text(/^[a-z0-9-]{1,64}$/, "1 to 64 of a-z 0-9 -");
const clientSeedText = text(/^[!-~]{1,64}$/, "1 to 64 visible ASCII characters without a space");
const anyText = text(/^[^]*$/, "text");
const money = (min) => record({ currency: text(/^[A-Z0-9]{2,8}$/, "a currency like FUN"), amount: decimal(min, MAX_UNITS) });
const chipKinds = [...new Set([...CHIPS.keys()].map((key) => key.split(" ")[0]))].sort();
const chip = record({ kind: word(...chipKinds), numbers: list(number(0, 36), 0, 6), amount: decimal(1n, MAX_UNITS) });

const BETS = { // what the player chose
  dice: { target: number(0, 9999), direction: word("OVER", "UNDER") },
  limbo: { targetE2: number(101, 1000000) },
  roulette: { chips: list(chip, 0, 32) },
  mines: { mineCount: number(1, 24), picks: list(number(0, 24), 0, 24) },
};
const RESULTS = { // what the house adds in evidence
  dice: { roll: number(0, 9999), win: truth },
  limbo: { outcomeE2: number(100, 1000000), win: truth },
  roulette: { chips: list(chip, 1, 32), pocket: number(0, 36) },
  mines: { maxPicks: number(1, 24), mines: list(number(0, 24), 0, 24), hitMine: truth, nextMultiplierE4: decimal(0n, MAX_MULTIPLIER) },
};
const ROUND = {
  roundId: id, betId: text(/^[A-Za-z0-9_-]{1,40}$/, "1 to 40 of A-Z a-z 0-9 _ -"), scheme: id,
  state: word("SETTLED", "VOID"), game: word("DICE", "LIMBO", "ROULETTE", "MINES"),
  seedPairId: id, commitment: hex64, clientSeed: clientSeedText, nonce: number(0, MAX_NONCE),
  stake: money(1n), payout: money(0n), multiplierE4: decimal(0n, MAX_MULTIPLIER), createTime: time, settleTime: time,
};
function round(value, at) {
  const game = value && typeof value.game === "string" ? value.game.toLowerCase() : "";
  record(Object.hasOwn(GAMES, game) ? { ...ROUND, [game]: record({ ...BETS[game], ...RESULTS[game] }) } : ROUND)(value, at);
  const problem = GAMES[game].problem(value[game]);
  if (problem) throw new Unusable(`${at}.${game}: ${problem}`);
}
function seedPair(value, at) {
  const unused = value && value.state === "UNUSED"; // a commitment that never became active: no client seed, no bets
  record({
    seedPairId: id, scheme: word("originals-v1"), state: word("REVEALED", "UNUSED"), commitment: hex64,
    clientSeed: unused ? text(/^$/, "an empty client seed") : clientSeedText, nonce: number(0, unused ? 0 : MAX_NONCE + 1), serverSeed: hex64, createTime: time, revealTime: time,
  }, { revealReason: anyText })(value, at);
}
function parseEvidence(text) {
  const evidence = parseJSON(text);
  record({ format: word("originals-evidence-v1"), seedPair, rounds: list(round, 0, 2 ** 32) })(evidence, "document");
  return evidence;
}

// ---- 6. The checks ---------------------------------------------------------------------------------------------------

const CHECKS = { // in this order; the first that fails gives the verdict its name
  format: "the document is complete and well-formed",
  commitment: "the server seed hashes to the commitment",
  identity: "every round names this seed pair, its commitment and its client seed; no bet id stands twice",
  nonce: "every nonce from 0 on is there once",
  order: "no time runs backwards",
  outcome: "every outcome follows from the seeds",
  win: "every win and every loss is called rightly",
  multiplier: "every multiplier is the one of the rules",
  payout: "every payout is the one of the rules",
  stake: "every roulette stake is the sum of its chips",
};

// checkEvidence returns { failures: {check: [words, ...]}, notes, summary, verdict }; kept is what the player wrote down: { commitment, lastNonce }.
function checkEvidence(fileText, kept = {}) {
  const report = { failures: {}, notes: [], summary: "", verdict: "" };
  const fail = (check, words) => (report.failures[check] = report.failures[check] || []).push(words);
  let evidence;
  try { evidence = parseEvidence(fileText); } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    fail("format", error.message);
    return { ...report, verdict: "UNUSABLE (format)" };
  }
  const { seedPair: pair, rounds } = evidence;
  checkCommitment(pair.serverSeed, pair.commitment, kept.commitment, fail);
  checkSequence(pair, rounds, kept.lastNonce, fail);
  for (const one of rounds) checkRound(pair, one, fail);

  if (pair.clientSeed !== "" && pair.clientSeed.length < 16) report.notes.push(weak(pair.clientSeed));
  if (rounds.some((one) => timeKey(one.settleTime) > timeKey(pair.revealTime))) report.notes.push("the server seed was revealed before the last round had settled");
  if (kept.commitment === undefined) {
    report.notes.push("give the commitment that you were shown before you played with --commitment; without it the file only agrees with itself");
  }
  report.summary = summarize(rounds);
  const first = Object.keys(CHECKS).find((check) => report.failures[check]);
  report.verdict = first ? `FAILED (${first})` : kept.commitment === undefined ? "CONSISTENT, COMMITMENT NOT CONFIRMED" : "VERIFIED";
  return report;
}

function checkCommitment(serverSeed, claimed, kept, fail) {
  const computed = commitmentOf(serverSeed);
  let hint = "";
  if (serverSeed === claimed || serverSeed === kept) hint = "; the server seed given is a commitment: a hash was pasted in place of the server seed";
  else if (sha3(hexBytes(serverSeed)) === claimed) hint = "; the commitment is the hash of the 32 raw bytes, and this scheme hashes the 64 hex digits";
  if (computed !== claimed) fail("commitment", `the server seed hashes to ${computed}, and the commitment is ${claimed}${hint}`);
  if (kept !== undefined && kept !== claimed) {
    fail("commitment", `you kept the commitment ${kept}, and this one is ${claimed}: another seed pair, or another promise`);
  }
}

const timeKey = (value) => value.slice(0, 19) + (value.slice(20, -1) + "000000000").slice(0, 9); // sorts as text

function checkSequence(pair, rounds, lastNonce, fail) {
  const betIds = new Set();
  let expected = 0, before = "";
  for (const one of rounds) {
    const name = `nonce ${one.nonce}`;
    for (const key of ["scheme", "seedPairId", "commitment", "clientSeed"]) {
      if (one[key] !== pair[key]) fail("identity", `${name}: ${key} is ${quote(one[key])}, and the seed pair has ${quote(pair[key])}`);
    }
    if (one.roundId !== `${pair.seedPairId}-${one.nonce}`) fail("identity", `${name}: roundId is ${quote(one.roundId)}, not the seed pair's id and the nonce`);
    if (betIds.has(one.betId)) fail("identity", `${name}: the bet ${one.betId} stands twice`);
    betIds.add(one.betId);
    if (one.nonce > expected) fail("nonce", `nonce ${expected} is missing: the next round has ${one.nonce}`);
    if (one.nonce < expected) fail("nonce", `nonce ${one.nonce} comes again or too late, after ${expected - 1}`);
    expected = one.nonce + 1;
    if (timeKey(one.createTime) < before) fail("order", `${name}: it was made before the round that precedes it`);
    if (timeKey(one.settleTime) < timeKey(one.createTime)) fail("order", `${name}: it was settled before it was made`);
    before = timeKey(one.createTime);
  }
  if (pair.nonce !== rounds.length) fail("nonce", `the seed pair has had ${pair.nonce} bets, and the file holds ${rounds.length}`);
  if (lastNonce !== undefined && lastNonce >= pair.nonce) fail("nonce", `you have seen nonce ${lastNonce}, and the seed pair ends before it`);
}

function checkRound(pair, one, fail) {
  const name = `nonce ${one.nonce}`, game = one.game.toLowerCase(), bet = one[game], stake = BigInt(one.stake.amount);
  const playAt = (nonce) => play(game, bet, stake, streamOf(signatureOf(pair.serverSeed, pair.clientSeed, nonce)));
  const isVoid = one.state === "VOID", unplayed = game === "mines" && bet.picks.length === 0;
  const right = playAt(one.nonce);
  if (isVoid) { right.multiplierE4 = 0n; right.payout = stake; } // refunded
  if (isVoid && !unplayed) fail("outcome", `${name}: only a mines round without a pick can be void`);
  if (unplayed && !isVoid) fail("outcome", `${name}: a mines round settles with one pick at least`);

  for (const key of Object.keys(right.drawn)) {
    if (isVoid && unplayed && bet.mines.length === 0) continue; // a board that was never shown
    const same = (result) => String(result.drawn[key]) === String(bet[key]);
    if (same(right)) continue;
    const near = [one.nonce - 1, one.nonce + 1].filter((nonce) => nonce >= 0 && same(playAt(nonce)));
    const hint = near.length ? ` (nonce ${near[0]} would give it: is the nonce off by one?)` : "";
    fail("outcome", `${name}: ${key} is ${bet[key]}, and the seeds give ${right.drawn[key]}${hint}`);
  }
  for (const key of Object.keys(right.flag)) {
    if (bet[key] !== right.flag[key]) fail("win", `${name}: ${key} is ${bet[key]}, and it should be ${right.flag[key]}`);
  }
  if (game === "mines") {
    const board = right.drawn.mines, early = bet.picks.slice(0, -1).find((tile) => board.includes(tile));
    if (early !== undefined) fail("win", `${name}: tile ${early} is a mine, and the picks go on after it`);
    if (bet.nextMultiplierE4 !== "0") fail("multiplier", `${name}: nextMultiplierE4 is ${bet.nextMultiplierE4}, and a round that has ended has none`);
  }
  if (one.multiplierE4 !== String(right.multiplierE4)) {
    fail("multiplier", `${name}: the multiplier is ${one.multiplierE4}, and it should be ${right.multiplierE4} (in 1/10000)`);
  }
  if (one.payout.amount !== String(right.payout)) fail("payout", `${name}: the payout is ${one.payout.amount}, and it should be ${right.payout}`);
  if (one.payout.currency !== one.stake.currency) fail("payout", `${name}: staked in ${one.stake.currency}, paid in ${one.payout.currency}`);
  if (game === "roulette" && chipsTotal(bet.chips) !== stake) fail("stake", `${name}: the stake is ${stake}, and the chips add up to ${chipsTotal(bet.chips)}`);
}

const weak = (clientSeed) => `WEAK client seed of ${clientSeed.length} bytes: under 16 the house might have guessed it before it chose the server seed`;

function summarize(rounds) {
  const games = new Map(), staked = new Map(), paid = new Map();
  const add = (sums, key, amount) => sums.set(key, (sums.get(key) || 0n) + BigInt(amount));
  for (const one of rounds) {
    add(games, one.state === "VOID" ? "void" : one.game.toLowerCase(), 1);
    add(staked, one.stake.currency, one.stake.amount);
    add(paid, one.payout.currency, one.payout.amount);
  }
  const show = (sums, of = "") => [...sums].map(([key, sum]) => `${sum} ${of}${key}`).join(", ") || "nothing";
  const count = rounds.length === 1 ? "1 round" : `${rounds.length} rounds`;
  return `${count}: ${show(games)}; staked ${show(staked, "units of ")}; paid ${show(paid, "units of ")}`;
}

const originals = {
  sponge, sha3, commitmentOf, signatureOf, streamOf, uniform, play, limboOutcomeE2, minesMultiplierE4, minesBoard, CHIPS, coveredBy,
  parseJSON, checkEvidence, CHECKS, Unusable,
  forms: { text, word, number, truth, decimal, list, record, money, hex64, time, id, anyText, quote, timeKey, need },
};

// ---- 7. The command line (Node only) -----------------------------------------------------------------------------------

const line = (label, words) => console.log(label.padEnd(12) + words);

function readFile(file) {
  try { return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(require("fs").readFileSync(file)); } catch (error) {
    throw new Unusable(`${quote(file)}: ${error.code === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "not UTF-8 text" : "cannot be read"}`);
  }
}

// printReport prints every check and returns the exit status.
function printReport(report, checks) {
  for (const check of Object.keys(checks)) {
    const failures = report.failures[check] || [];
    for (const words of failures.slice(0, 5)) line(check, `FAILED  ${words}`);
    if (failures.length > 5) line("", `        and ${failures.length - 5} more`);
    if (failures.length === 0 && !report.verdict.startsWith("UNUSABLE")) line(check, `ok      ${checks[check]}`);
  }
  if (report.summary) line("summary", report.summary);
  for (const note of report.notes) line("note", note);
  line("verdict", report.verdict);
  return report.verdict.startsWith("UNUSABLE") ? 2 : report.verdict.startsWith("FAILED") ? 1 : 0;
}

function commandEvidence(file, flags) {
  const kept = { commitment: flags.commitment };
  if (kept.commitment !== undefined) hex64(kept.commitment, "--commitment");
  if (flags["last-nonce"] !== undefined) kept.lastNonce = parseNonce(flags["last-nonce"], "--last-nonce");
  if (flags["last-ply"] !== undefined) kept.lastPly = parsePly(flags["last-ply"], "--last-ply");
  const content = readFile(file);
  const duel = isDuel(content) ? require("./duel.js") : undefined;
  if (duel && kept.lastNonce !== undefined) throw new Unusable("--last-nonce: is for seed pairs, and this is a duel");
  if (!duel && kept.lastPly !== undefined) throw new Unusable("--last-ply: is for duels, and this is none");
  const report = duel ? duel.checkDuel(content, kept.commitment, kept.lastPly) : checkEvidence(content, kept);
  const checks = duel ? duel.CHECKS : CHECKS;
  return printReport(report, checks);
}

function isDuel(content) {
  try { return parseJSON(content).format === "originals-duel-v1"; } catch (error) {
    if (error instanceof Unusable || error instanceof TypeError) return false; // checkEvidence says what is wrong
    throw error;
  }
}

function parseNonce(value, at) {
  text(/^(0|[1-9][0-9]{0,9})$/, "a nonce from 0 to 4294967294")(value, at);
  number(0, MAX_NONCE)(Number(value), at);
  return Number(value);
}

function parsePly(value, at) {
  text(/^(0|[1-9][0-9]{0,3})$/, "a ply from 0 to 9999")(value, at);
  return Number(value);
}

function commandRound(flags) {
  hex64(flags["server-seed"], "--server-seed");
  clientSeedText(flags["client-seed"], "--client-seed");
  const nonce = parseNonce(flags.nonce, "--nonce");
  if (flags.commitment !== undefined) hex64(flags.commitment, "--commitment");
  const chosen = Object.keys(GAMES).filter((game) => flags[game] !== undefined);
  if (chosen.length !== 1) throw new Unusable("give one of --dice, --limbo, --roulette, --mines");
  const game = chosen[0], bet = parseJSON(flags[game]);
  record(BETS[game])(bet, `--${game}`);
  const problem = GAMES[game].problem(bet);
  if (problem) throw new Unusable(`--${game}: ${problem}`);
  if (flags.stake !== undefined) decimal(1n, MAX_UNITS)(flags.stake, "--stake");
  const stake = BigInt(flags.stake || 0);
  if (game === "roulette" && flags.stake !== undefined && stake !== chipsTotal(bet.chips)) {
    throw new Unusable(`--stake: the chips add up to ${chipsTotal(bet.chips)}`);
  }

  const signature = signatureOf(flags["server-seed"], flags["client-seed"], nonce);
  const result = play(game, bet, stake, streamOf(signature));
  if (game === "mines" && bet.picks.slice(0, -1).some((tile) => result.drawn.mines.includes(tile))) throw new Unusable("--mines: the picks go on after a mine");
  const failures = [];
  const computed = commitmentOf(flags["server-seed"]);
  checkCommitment(flags["server-seed"], flags.commitment === undefined ? computed : flags.commitment, undefined, (_, words) => failures.push(words));
  line("commitment", computed);
  line("signature", signature);
  line("outcome", Object.entries({ ...result.drawn, ...result.flag }).map(([key, value]) => `${key}=${value}`).join(" "));
  line("multiplier", String(result.multiplierE4));
  if (game === "roulette" || flags.stake !== undefined) line("payout", String(result.payout));
  for (const words of failures) line("commitment", `FAILED  ${words}`);
  if (flags["client-seed"].length < 16) line("note", weak(flags["client-seed"]));
  line("verdict", failures.length ? "FAILED (commitment)" : flags.commitment === undefined ? "CONSISTENT, COMMITMENT NOT CONFIRMED" : "VERIFIED");
  return failures.length ? 1 : 0;
}

function main(args) {
  const command = args.shift();
  if (command === "vectors" && args.length === 0) { process.stdout.write(require("./vectors.js").vectorsFile()); return 0; }
  if (command === "vectors" && args.length === 1 && args[0] === "duel-v1") { process.stdout.write(require("./duelvectors.js").vectorsFile()); return 0; }
  const file = command === "evidence" ? args.shift() : undefined;
  const allowed = { evidence: ["commitment", "last-nonce", "last-ply"], round: ["server-seed", "client-seed", "nonce", "commitment", "stake", ...Object.keys(GAMES)] }[command];
  if (!allowed || (command === "evidence" && file === undefined)) {
    console.error("usage: verify.js evidence FILE | round ... | vectors   (see the first lines of this file)");
    return 2;
  }
  try {
    const flags = {};
    while (args.length > 0) {
      const flag = args.shift(), name = flag.replace(/^--/, "");
      if (!flag.startsWith("--") || !allowed.includes(name)) throw new Unusable(`${quote(flag)}: unknown; known are --${allowed.join(" --")}`);
      if (args.length === 0 || name in flags) throw new Unusable(`${quote(flag)}: wants one value, once`);
      flags[name] = args.shift();
    }
    return command === "evidence" ? commandEvidence(file, flags) : commandRound(flags);
  } catch (error) {
    if (!(error instanceof Unusable)) throw error;
    line("format", `FAILED  ${error.message}`);
    line("verdict", "UNUSABLE (format)");
    return 2;
  }
}

if (typeof module === "object" && module.exports) {
  module.exports = { ...originals, main, line, readFile, printReport };
  if (require.main === module) process.exitCode = main(process.argv.slice(2));
}
