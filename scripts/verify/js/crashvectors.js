// Makes internal/vectors/crash-v1.json out of crash.js: `node crash.js vectors`. Nothing here is random: hashes and salts are
// hashes of labels. scripts/verify/python/crashvectors.py does the same on its own; the two files must be equal to the byte.
"use strict";
const c = require("./crash.js");

const hash = (label) => c.hex(c.sha256(Array.from(`crash-v1 vectors: ${label}`, (x) => x.charCodeAt(0)))); // 64 hex digits
const WALKED = 20000; // rounds up to this number show the terminal
const NUMBERS = [1, 2, 9, 10, 99, 100, 255, 256, 999, 1000, 65535, 65536, 99999, 100000, 999999, 1000000, 9999999, 10000000, 2147483647, 2147483648, 4294967294, 4294967295];
const TABLES = ["a", "0", "-", "z9", "main", "main-2", "--------------------------------", "a".repeat(32), "0".repeat(32), "abcdefghijklmnopqrstuvwxyz-01234", "high-rollers-1000000"];
const SALTS = ["0".repeat(64), "f".repeat(64), "0000000000000000004d6ec16dafe9d8370958664c1dc422f452892264c59526", "0123456789abcdef".repeat(4), "00000000000000000000000000000000000000000000000000000000000000ff"];
// rounds of drand's quicknet with their signatures: the salt is the SHA-256 of the signature
const BEACONS = [
  ["27798178", "b18fa6dc92304844fc4e868d708953e6b628b3f88d4381249d32264df1bfe5bc20aa0905e57fe54063010881767fd56d"],
  ["27798188", "94eb0ae0069459bae7e748c109c6955a6d2d0c87b0a239c269970dbf3ec359292f4f74abf1c63915eb01e453aa0e5ee5"],
  ["27798200", "84bc2ddf291e7996c6c9d6d791e24d9e3aa69ea279e220d755d0a0222b900eac6c81f9473ab755d751ed07a473be98c7"],
];

function row(name, table, number, link, salt, flags, more = {}) {
  const digest = c.digestOf(link, table, number, salt);
  const terminal = number <= WALKED ? { terminal: c.before(link, number) } : {};
  return { id: name, flags, table, number, hash: link, salt, ...more, ...terminal, digest, h: digest.slice(0, 13), crashE2: c.crashOf(link, table, number, salt) };
}

// search returns the first so many rounds of a chain whose crash point is wanted; their numbers only grow.
function search(name, count, flag, wanted) {
  const link = hash(`link ${name}`), salt = hash(`salt ${name}`), found = [];
  for (let number = 1; found.length < count; number++) {
    if (wanted(c.crashOf(link, "main", number, salt))) found.push(row(`${name}-${number}`, "main", number, link, salt, [flag]));
  }
  return found;
}

function rows() {
  const all = [];
  for (let i = 0; i < 40; i++) all.push(row(`plain-${i}`, "main", i + 1, hash(`link ${i}`), hash(`salt ${i}`), []));
  const end = hash("end of the chain"), length = 30;
  for (let number = 1; number <= length; number++) all.push(row(`chain-${number}`, "chain", number, c.before(end, length - number), hash("salt of the chain"), ["chain"]));
  NUMBERS.forEach((number) => all.push(row(`number-${number}`, "main", number, hash("link number"), hash("salt number"), ["extreme-number"])));
  TABLES.forEach((table, i) => all.push(row(`table-${i}`, table, 7, hash(`link table ${i}`), hash("salt table"), [table.length === 32 ? "longest-table" : "table"])));
  SALTS.forEach((salt, i) => all.push(row(`salt-${i}`, "main", 11, hash(`link salt ${i}`), salt, ["salt"])));
  ["0".repeat(64), "f".repeat(64), "0".repeat(63) + "1"].forEach((link, i) => all.push(row(`link-${i}`, "main", 3, link, hash(`salt link ${i}`), ["extreme-link"])));
  for (const [round, signature] of BEACONS) all.push(row(`beacon-${round}`, "beacon", 5, hash(`link beacon ${round}`), c.hex(c.sha256(c.hexBytes(signature))), ["beacon"], { beaconRound: round, beaconSignature: signature }));
  all.push(...search("instant", 12, "instant-crash", (point) => point === 100));
  all.push(...search("lowest-win", 6, "lowest-win", (point) => point === 101));
  all.push(...search("maximum", 6, "maximum", (point) => point === 1000000));
  all.push(...search("double", 4, "two", (point) => point === 200));
  return all;
}

// words are 52-bit words at the borders of crash points: the last that loses and the first that reaches each.
function words() {
  const E = 1n << 52n, all = new Set([0n, 1n, E - 1n, E - 2n, E / 2n, E / 2n - 1n, E - 99n, E - 100n]);
  for (const m of [101n, 102n, 110n, 150n, 199n, 200n, 201n, 500n, 1000n, 9999n, 10000n, 99999n, 100000n, 500000n, 999998n, 999999n, 1000000n, 1000001n, 1000002n]) {
    const ways = 99n * E / (m - 1n); // P(crash >= m) = floor(99 * 2^52 / (m-1)) / 2^52
    for (const h of [E - ways - 1n, E - ways]) all.add(h);
  }
  const sorted = [...all].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return sorted.map((h) => ({ h: h.toString(16).padStart(13, "0"), crashE2: c.pointOf(h) }));
}

function bets() {
  const all = [];
  for (const stake of [1n, 3n, 99n, 100n, 101n, 12345n, 90071992547n]) {
    for (const targetE2 of [101, 150, 199, 200, 333, 10000, 1000000]) {
      const payout = c.payoutOf(stake, targetE2);
      if (payout < 2n ** 53n) all.push({ stake: String(stake), targetE2, multiplierE4: String(targetE2 * 100), payout: String(payout) });
    }
  }
  return all;
}

const GROWTH = [100, 101, 102, 103, 110, 125, 150, 199, 200, 201, 250, 271, 272, 300, 500, 999, 1000, 1001, 2500, 9999, 10000, 65536, 99999, 100000, 123456, 271828, 500000, 999999, 1000000, 1000001];

// vectorsFile returns the file, one row a line.
function vectorsFile() {
  const times = new Map([...c.growth()].filter(([m]) => GROWTH.includes(m)));
  const growth = GROWTH.map((multiplierE2) => ({ multiplierE2, firstUs: times.get(multiplierE2) }));
  const lines = (list) => list.map((one) => JSON.stringify(one)).join(",\n");
  return `{"scheme":"crash-v1","source":"scripts/verify/js/crash.js vectors",\n"rows":[\n${lines(rows())}\n],\n"words":[\n${lines(words())}\n],\n"bets":[\n${lines(bets())}\n],\n"growth":[\n${lines(growth)}\n]}\n`;
}

module.exports = { vectorsFile, BEACONS };
