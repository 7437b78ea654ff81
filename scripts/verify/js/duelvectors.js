// Makes internal/vectors/duel-v1.json out of duel.js: `node verify.js vectors duel-v1`. Nothing here is random: seeds are hashes
// of labels. scripts/verify/python/duelvectors.py does the same on its own; the two files must be equal to the byte.
"use strict";
const d = require("./duel.js");

const hash = (label) => d.hex(d.sha256(d.utf8(`duel-v1 vectors: ${label}`))); // 64 hex digits
const PUBLISHED = {
  serverSeed: "5b4c290e960e3c3a8c4cce633d38b04e136fae6c0e453f5a8dd3b9640157c7c6", white: "bot:team:anon:verifier-aa3534dd", black: "4c4bda73e3a467f691a6570ee047983b",
};
const PLIES = ["0", "1", "9", "10", "255", "256", "65535", "65536", "9999", "2147483647", "2147483648", "4294967295", "4294967296", "9007199254740991", "9007199254740992", "9007199254740993",
  "9223372036854775807", "9223372036854775808", "18446744073709551614", "18446744073709551615"];
const TEXTS = [ // two client seeds: short, long, with separators, of 2, 3 and 4 bytes a character
  ["!".repeat(16), "~".repeat(16)], ["a".repeat(17), "b".repeat(255)], ["x".repeat(256), "y".repeat(256)], [":".repeat(16), "white:black:0:0:"], ["\"\\/'<>&0123456789", "#".repeat(64)],
  ["\u00e9".repeat(16), "\u00df\u00f1".repeat(8)], ["\u20ac".repeat(16), "\u6f22\u5b57".repeat(8)], ["\u{1f3b2}".repeat(8), "\u{1f600}a".repeat(6)], ["e\u0301".repeat(8), "\u00e9".repeat(16)], ["\u05d0".repeat(128), "\uffff".repeat(20)],
];

const row = (name, serverSeed, white, black, ply, flags) =>
  ({ id: name, flags, serverSeed, commitment: d.commitmentOf(serverSeed), white, black, ply: String(ply), dice: d.rollOf(serverSeed, white, black, ply) });

// rejects tells whether a byte is rejected before the third die.
function rejects(serverSeed, white, black, ply) {
  const block = d.hmac(d.hexBytes(serverSeed), d.messageOf(white, black, ply, 0));
  return block.slice(0, 3).some((byte) => byte >= 252);
}

function rows() {
  const all = [];
  for (let ply = 0; ply < 8; ply++) all.push(row(`published-${ply}`, PUBLISHED.serverSeed, PUBLISHED.white, PUBLISHED.black, ply, ["published"]));
  for (let ply = 0; ply < 4; ply++) all.push(row(`swapped-${ply}`, PUBLISHED.serverSeed, PUBLISHED.black, PUBLISHED.white, ply, ["swapped"]));
  for (let i = 0; i < 40; i++) all.push(row(`plain-${i}`, hash(`server seed ${i}`), hash(`white ${i}`), hash(`black ${i}`), i % 5, []));
  PLIES.forEach((ply) => all.push(row(`ply-${ply}`, hash("server seed ply"), hash("white ply"), hash("black ply"), ply, ["extreme-ply"])));
  TEXTS.forEach(([white, black], i) => { for (const ply of [0, 7]) all.push(row(`text-${i}-${ply}`, hash(`server seed text ${i}`), white, black, ply, [i < 5 ? "ascii" : "unicode"])); });
  const seeds = [hash("server seed rejected"), hash("white rejected"), hash("black rejected")];
  for (let ply = 0, found = 0; found < 24; ply++) {
    if (!rejects(...seeds, ply)) continue;
    all.push(row(`rejected-${ply}`, ...seeds, ply, ["rejected-byte"]));
    found++;
  }
  return all;
}

// digests are blocks as they never come up: the dice that they would give, and how many are looked at.
function digests() {
  const block = (fill, head = []) => d.hex(Array.from({ length: 32 }, (_, i) => (i < head.length ? head[i] : fill)));
  const last = (fill, byte) => d.hex(Array.from({ length: 32 }, (_, i) => (i === 31 ? byte : fill)));
  const cases = [
    [block(0, [0, 1, 251])], [block(9, [252, 255, 251, 6])], [block(252), block(1, [2, 3])], [last(255, 5), block(253), block(2)], [block(254), block(253), block(0, [4, 3, 2])],
    [last(252, 251), block(0, [1, 2])],
  ];
  for (let b = 0; b < 252; b += 25) cases.push([block(b)]);
  return cases.map((blocks) => {
    let looked = 0;
    const dice = d.drawDice((k) => { looked = k + 1; return d.hexBytes(blocks[k]); });
    return { blocks, looked, dice };
  });
}

function hashes() {
  const all = [];
  for (let i = 0; i < 10; i++) {
    for (const seat of ["white", "black"]) {
      const duelId = `${String(i).padStart(2, "0")}-${hash(`duel ${i}`).slice(0, 16)}`, clientSeed = hash(`${seat} hashed ${i}`);
      all.push({ duelId, seat, clientSeed, clientSeedHash: d.seatHashOf(duelId, seat, clientSeed), fallbackHash: d.fallbackHashOf(clientSeed) });
    }
  }
  return all;
}

// vectorsFile returns the file, one row a line. It is ASCII.
function vectorsFile() {
  const ascii = (line) => line.replace(/[^ -~]/g, (unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"));
  const lines = (list) => list.map((one) => ascii(JSON.stringify(one))).join(",\n");
  return `{"scheme":"duel-v1","source":"scripts/verify/js/verify.js vectors duel-v1",\n"rows":[\n${lines(rows())}\n],\n"digests":[\n${lines(digests())}\n],\n"hashes":[\n${lines(hashes())}\n]}\n`;
}

module.exports = { vectorsFile };
