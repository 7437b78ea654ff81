// Checks a duel, dice for two seats of the scheme duel-v1: `node verify.js evidence duel.json` comes here by itself.
// In a browser, load it after verify.js; the object `originalsDuel` has the same functions. No library.
"use strict";
(function () {
const v = typeof module === "object" && module.exports ? require("./verify.js") : originals;
const { text, word, number, truth, list, record, hex64, time, id, timeKey } = v.forms;

// ---- 1. SHA-256 and HMAC over bytes (FIPS 180-4, RFC 2104) ------------------------------------------------------------
// The constants are the first 32 bits of the fractions of roots of primes: square roots for the start, cube roots for the rounds.

const PRIMES = [];
for (let n = 2; PRIMES.length < 64; n++) if (PRIMES.every((p) => n % p !== 0)) PRIMES.push(n);
function rootFraction(prime, power) { // the first 32 bits after the point of the root, by whole numbers
  const scaled = BigInt(prime) << BigInt(32 * power);
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** BigInt(power) <= scaled) root += bit;
  return Number(root & 0xffffffffn);
}
const START = PRIMES.slice(0, 8).map((p) => rootFraction(p, 2)), ROUND = PRIMES.map((p) => rootFraction(p, 3));

function sha256(bytes) {
  const length = bytes.length, padded = [...bytes, 0x80];
  while (padded.length % 64 !== 56) padded.push(0);
  for (let shift = 56n; shift >= 0n; shift -= 8n) padded.push(Number((BigInt(length) * 8n >> shift) & 0xffn));
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  const h = Int32Array.from(START), w = new Int32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = (padded[at + 4 * i] << 24) | (padded[at + 4 * i + 1] << 16) | (padded[at + 4 * i + 2] << 8) | padded[at + 4 * i + 3];
    for (let i = 16; i < 64; i++) {
      const low = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3), high = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    let [a, b, c, d, e, f, g, last] = h;
    for (let i = 0; i < 64; i++) {
      const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + w[i]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [last, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, last].forEach((x, i) => { h[i] += x; });
  }
  return Array.from(h).flatMap((x) => [x >>> 24, (x >>> 16) & 0xff, (x >>> 8) & 0xff, x & 0xff]);
}
function hmac(key, message) { // the key has 32 bytes, never more than a block
  const pad = (byte) => Array.from({ length: 64 }, (_, i) => (i < key.length ? key[i] : 0) ^ byte);
  return sha256([...pad(0x5c), ...sha256([...pad(0x36), ...message])]);
}

const utf8 = (string) => Array.from(new TextEncoder().encode(string));
const hexBytes = (hex) => hex.match(/../g).map((pair) => parseInt(pair, 16));
const hex = (bytes) => bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");

// ---- 2. From the seeds to the dice ------------------------------------------------------------------------------------
// commitment    = hex(SHA-256(the server seed's 32 bytes))
// seat hash     = hex(SHA-256(duel id ":" seat ":" client seed))
// fallback hash = hex(SHA-256(the fallback seed's 64 hex digits))
// block k       = HMAC-SHA256(server seed bytes, be32(len W) W be32(len B) B be64(ply) be32(k))

const commitmentOf = (serverSeed) => hex(sha256(hexBytes(serverSeed)));
const seatHashOf = (duelId, seat, clientSeed) => hex(sha256(utf8(`${duelId}:${seat}:${clientSeed}`)));
const fallbackHashOf = (seed) => hex(sha256(utf8(seed)));

function bigEndian(value, bytes) {
  return Array.from({ length: bytes }, (_, i) => Number((BigInt(value) >> BigInt(8 * (bytes - 1 - i))) & 0xffn));
}
function messageOf(white, black, ply, block) {
  const w = utf8(white), b = utf8(black);
  return [...bigEndian(w.length, 4), ...w, ...bigEndian(b.length, 4), ...b, ...bigEndian(ply, 8), ...bigEndian(block, 4)];
}

// drawDice takes three dice from blocks of bytes: those of 252 and more are rejected, so that each face is equally likely.
function drawDice(blockAt) {
  const dice = [];
  for (let k = 0; ; k++) {
    for (const byte of blockAt(k)) {
      if (byte < 252) dice.push(byte % 6 + 1);
      if (dice.length === 3) return dice;
    }
  }
}
const rollOf = (serverSeed, white, black, ply) => drawDice((k) => hmac(hexBytes(serverSeed), messageOf(white, black, ply, k)));

// ---- 3. The document, field by field ----------------------------------------------------------------------------------

const clientSeed = text(/^[!-~]{16,256}$/, "16 to 256 visible ASCII characters without a space");
const seatRecord = record({ present: truth, seeded: truth }, {
  playerId: text(/^[!-~]{1,128}$/, "1 to 128 visible ASCII characters"), clientSeedHash: hex64, clientSeed,
  source: word("OWN", "COMMITTED", "FALLBACK"), fallbackHash: hex64, fallbackSeed: hex64,
});
const duelRecord = record({
  format: word("originals-duel-v1"), duelId: id, scheme: word("duel-v1"), mode: word("COMMITTED", "PLAIN"), state: word("ENDED", "FORFEITED", "VOID"),
  commitment: hex64, serverSeed: hex64, white: seatRecord, black: seatRecord,
  rolls: list(record({ ply: number(0, 9999), dice: list(number(1, 6), 3, 3) }), 0, 10000),
  graceSeconds: number(1, 300), expirySeconds: number(1, 604800), createTime: time, endTime: time,
  endReason: word("GAME_SERVER", "GRACE_PERIOD", "EXPIRED", "STORE_REPLACED"), forfeitedBy: list(word("white", "black"), 0, 2), eventNumber: number(1, 2 ** 32 - 1),
}, { lastPly: number(0, 9999) });

// ---- 4. The checks ----------------------------------------------------------------------------------------------------

const CHECKS = { // in this order; the first that fails gives the verdict its name
  format: "the document is complete and well-formed, and the duel has ended",
  commitment: "the server seed hashes to the commitment",
  seats: "every client seed is the one its seat or the house was committed to, and every source and forfeit is called rightly",
  order: "plies are 0, 1, 2, ... after both client seeds, and the end is one the rules know",
  dice: "every roll follows from the seeds",
};

// checkDuel returns a report as checkEvidence does; kept is the commitment that the player wrote down, lastPly the last one seen.
function checkDuel(fileText, kept, lastPly) {
  const report = { failures: {}, notes: [], summary: "", verdict: "" };
  const fail = (check, words) => (report.failures[check] = report.failures[check] || []).push(words);
  let duel;
  try { duel = v.parseJSON(fileText); duelRecord(duel, "document"); } catch (error) {
    if (!(error instanceof v.Unusable)) throw error;
    fail("format", error.message);
    return { ...report, verdict: "UNUSABLE (format)" };
  }
  checkCommitment(duel, kept, fail);
  checkSeat(duel, "white", "black", fail);
  checkSeat(duel, "black", "white", fail);
  checkForfeit(duel, fail);
  checkOrder(duel, lastPly, fail);
  if (isFixed(duel)) checkDice(duel, fail);

  for (const [seat, other] of [["white", "black"], ["black", "white"]]) {
    if (duel[seat].source === "FALLBACK") report.notes.push(`${seat} fell back to a seed of the house: it is not protected from the house together with ${other}`);
  }
  if (duel.white.source === "OWN" && duel.black.source === "OWN") {
    report.notes.push("both client seeds were sent in clear: the seat that sent its own last is not protected from the house together with the other seat");
  }
  if (lastPly === undefined && isFixed(duel)) report.notes.push("give the number of the last ply that you saw with --last-ply; without it rolls that were cut off at the end are not missed");
  if (kept === undefined) report.notes.push("give the commitment that you were shown before you played with --commitment; without it the file only agrees with itself");
  report.summary = `${duel.rolls.length === 1 ? "1 roll" : `${duel.rolls.length} rolls`}; white ${duel.white.source || "without a seed"}, black ${duel.black.source || "without a seed"}; ${duel.state} (${duel.endReason})`;
  const first = Object.keys(CHECKS).find((check) => report.failures[check]);
  report.verdict = first ? `FAILED (${first})` : kept === undefined ? "CONSISTENT, COMMITMENT NOT CONFIRMED" : "VERIFIED";
  return report;
}

const isFixed = (duel) => duel.white.source !== undefined && duel.black.source !== undefined && duel.white.clientSeed !== undefined && duel.black.clientSeed !== undefined;

function checkCommitment(duel, kept, fail) {
  const computed = commitmentOf(duel.serverSeed);
  let hint = "";
  if (duel.serverSeed === duel.commitment || duel.serverSeed === kept) hint = "; the server seed given is a commitment: a hash was pasted in place of the server seed";
  else if (fallbackHashOf(duel.serverSeed) === duel.commitment) hint = "; the commitment is the hash of the 64 hex digits, and this scheme hashes the 32 raw bytes";
  if (computed !== duel.commitment) fail("commitment", `the server seed hashes to ${computed}, and the commitment is ${duel.commitment}${hint}`);
  if (kept !== undefined && kept !== duel.commitment) {
    fail("commitment", `you kept the commitment ${kept}, and this one is ${duel.commitment}: another duel, or another promise`);
  }
}

function checkSeat(duel, name, other, fail) {
  const seat = duel[name], bad = (words) => fail("seats", `${name}: ${words}`);
  const has = (key) => seat[key] !== undefined;
  if (has("clientSeed") !== has("source")) return bad("a client seed and its source stand together or not at all");
  if (seat.seeded !== (seat.source === "OWN" || seat.source === "COMMITTED")) bad("seeded says whether the seat brought a client seed of its own, and does not");
  if (!seat.present && (seat.seeded || has("clientSeedHash"))) bad("it sent something, and was never present");
  if (duel.mode === "COMMITTED") {
    if (has("fallbackHash") || has("fallbackSeed")) bad("there is no fallback in committed mode");
    if (!has("source")) return;
    if (seat.source !== "COMMITTED") return bad(`its client seed is ${seat.source} in committed mode`);
    if (!has("clientSeedHash") || duel[other].clientSeedHash === undefined) return bad("its client seed was opened before both seats had sent their hashes");
    if (!/^[0-9a-f]{64}$/.test(seat.clientSeed)) bad("its client seed is not 64 lower-case hex digits");
    const hash = seatHashOf(duel.duelId, name, seat.clientSeed);
    if (hash !== seat.clientSeedHash) bad(`its client seed hashes to ${hash}, and it had sent ${seat.clientSeedHash}`);
    return;
  }
  if (has("clientSeedHash")) bad("no hashes are sent in plain mode");
  if (seat.source === "COMMITTED") bad("its client seed is COMMITTED in plain mode");
  if (!has("fallbackHash") || !has("fallbackSeed")) return bad("its fallback seed or the hash of it is missing");
  const hash = fallbackHashOf(seat.fallbackSeed);
  if (hash !== seat.fallbackHash) bad(`its fallback seed hashes to ${hash}, and ${seat.fallbackHash} was promised`);
  if (seat.source === "FALLBACK" && seat.clientSeed !== seat.fallbackSeed) bad("its client seed is called FALLBACK and is not the fallback seed");
  if (seat.source === "OWN" && seat.clientSeed === seat.fallbackSeed) bad("its client seed is called OWN and is the fallback seed"); // which no seat could know before the end
}

function checkForfeit(duel, fail) {
  const bad = (words) => fail("seats", words), forfeited = duel.state === "FORFEITED";
  if (forfeited !== duel.forfeitedBy.length > 0) return bad("a duel is FORFEITED when a seat forfeits, and only then");
  if (!forfeited) return;
  if (duel.mode !== "COMMITTED") return bad("nobody forfeits in plain mode");
  if (duel.forfeitedBy[0] === duel.forfeitedBy[1]) bad("a seat forfeits twice");
  for (const name of ["white", "black"]) {
    if (duel[name].clientSeedHash === undefined) bad(`${name}: a duel is forfeited after both hashes, and this one is missing`);
    if (duel.forfeitedBy.includes(name) === duel[name].seeded) bad(`${name}: a seat forfeits when it has not opened its client seed, and only then`);
  }
}

function checkOrder(duel, lastPly, fail) {
  const bad = (words) => fail("order", words), fixed = isFixed(duel), reason = duel.endReason;
  duel.rolls.forEach((roll, i) => { if (roll.ply !== i) bad(`ply ${roll.ply} stands where ply ${i} belongs`); });
  if (duel.lastPly !== undefined && duel.lastPly !== duel.rolls.length - 1) bad(`lastPly is ${duel.lastPly}, and there are ${duel.rolls.length} rolls: some were left out`);
  if (lastPly !== undefined && lastPly >= duel.rolls.length) bad(`you have seen ply ${lastPly}, and the rolls end before it`);
  if (duel.rolls.length > 0 && !fixed) bad("it was rolled before both client seeds were there");
  if (duel.white.source === "FALLBACK" && duel.black.source === "FALLBACK") bad("both seats fell back, and such a duel is void");
  if (timeKey(duel.endTime) < timeKey(duel.createTime)) bad("it ended before it was made");
  if (duel.state === "ENDED" && (!fixed || (reason !== "GAME_SERVER" && reason !== "EXPIRED"))) bad(`it cannot be ENDED by ${reason} ${fixed ? "with" : "without"} both client seeds`);
  if (duel.state === "FORFEITED" && reason !== "GRACE_PERIOD") bad(`it cannot be FORFEITED by ${reason}`);
  if (duel.state === "VOID" && reason !== "STORE_REPLACED" && fixed) bad(`it cannot be VOID by ${reason} with both client seeds`);
  const silent = duel.mode === "COMMITTED" ? duel.white.clientSeedHash === undefined || duel.black.clientSeedHash === undefined : !duel.white.seeded && !duel.black.seeded;
  if (duel.state === "VOID" && reason === "GRACE_PERIOD" && !silent) bad("it is VOID by GRACE_PERIOD, and the seats that had to speak did");
}

function checkDice(duel, fail) {
  for (const { ply, dice } of duel.rolls) {
    const at = (n) => String(rollOf(duel.serverSeed, duel.white.clientSeed, duel.black.clientSeed, n));
    if (at(ply) === String(dice)) continue;
    const near = [ply - 1, ply + 1].filter((n) => n >= 0 && at(n) === String(dice));
    fail("dice", `ply ${ply}: the dice are ${dice}, and the seeds give ${at(ply)}${near.length ? ` (ply ${near[0]} would give them: is the ply off by one?)` : ""}`);
  }
}

const duelFunctions = { sha256, hmac, hex, hexBytes, utf8, commitmentOf, seatHashOf, fallbackHashOf, messageOf, drawDice, rollOf, checkDuel, CHECKS };
if (typeof module === "object" && module.exports) module.exports = duelFunctions;
else globalThis.originalsDuel = duelFunctions;
})();
