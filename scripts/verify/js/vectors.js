// Makes internal/vectors/originals-v1.json out of verify.js: `node verify.js vectors`. Nothing here is random: seeds and
// parameters are hashes of labels. scripts/verify/python/vectors.py does the same on its own; the two files must be equal to the byte.
//
//   node vectors.js check FILE     derives every row of FILE again: prints the ids that differ, then "N passed, M failed"
"use strict";
const v = require("./verify.js");

const hash = (label) => v.commitmentOf(`originals-v1 vectors: ${label}`); // 64 hex digits
const choose = (label, n) => parseInt(hash(label).slice(0, 8), 16) % n;   // a number 0..n-1

// Where the words that uniform rejects are found (by trying every nonce from 1000000000 on): server seed hash("server seed rejected-word").
const REJECTED = {
  dice: [1001151058, 1001218995, 1001348173, 1001509396, 1001826895, 1001905506, 1002574044, 1002997861],
  roulette: [1491403930, 1642669445, 1850040744, 3052097087, 3082418833],
  mines: [1236361709, 1263737224, 1267329424, 1273438829, 1291043007, 1300703216, 1338196921, 1379898895, 1390780415, 1060955063, 1646500050, 2245720737],
};
// Where client seed "limbo" meets the largest outcome, and server seed hash("server seed limbo").
const LIMBO_HIGH = [7817, 19972, 29507, 37821, 47031, 90256];

const STAKES = ["1", "7", "100", "999", "1000", "12345", "500000", "1000000"];
const EDGE_CLIENT_SEEDS = ["x", "!", "~", "a:b:c", ":", "0:1:2", "\"\\/'<>&", "z".repeat(59), "y".repeat(60), "Y".repeat(60), "%".repeat(60),
  "w".repeat(64), "#".repeat(64), ":".repeat(64), "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`"];
const EDGE_NONCES = [0, 1, 9, 10, 4294967293, 4294967294];

// Each game's bets: a list of [bet, stake]. For mines the bet says how many safe tiles are opened, and if a mine follows.
function diceBets() {
  const bets = [["OVER", 199], ["OVER", 200], ["OVER", 9997], ["OVER", 9998], ["UNDER", 1], ["UNDER", 2], ["UNDER", 9799], ["UNDER", 9800], ["UNDER", 9724], ["OVER", 5050], ["UNDER", 5000]]
    .flatMap(([direction, target]) => [0, 1, 2].map(() => ({ target, direction })));
  for (let i = 0; i < 60; i++) bets.push(choose(`dice direction ${i}`, 2) ? { target: 199 + choose(`dice over ${i}`, 9800), direction: "OVER" } : { target: 1 + choose(`dice under ${i}`, 9800), direction: "UNDER" });
  return bets;
}
function limboBets() {
  const bets = [101, 102, 200, 9900, 999999, 1000000].flatMap((targetE2) => [0, 1, 2].map(() => ({ targetE2 })));
  for (let i = 0; i < 80; i++) bets.push({ targetE2: 101 + choose(`limbo ${i}`, [100, 1000, 10000, 999900][i % 4]) });
  return bets;
}
const legalChips = [...v.CHIPS.keys()].sort().map((key) => {
  const [kind, numbers] = key.split(" ");
  return { kind, numbers: numbers === "" ? [] : numbers.split(",").map(Number) };
});
function rouletteBets() {
  const rare = legalChips.filter((chip) => chip.numbers.length < 1 || ["TRIO", "DOZEN", "COLUMN"].includes(chip.kind));
  const bets = [...legalChips, ...rare, ...rare].map((chip, i) => ({ chips: [{ ...chip, amount: STAKES[i % STAKES.length] }] }));
  for (let i = 0; i < 40; i++) {
    const chips = [];
    for (let j = 0; j < 2 + (i % 31); j++) chips.push({ ...legalChips[choose(`chip ${i} ${j}`, legalChips.length)], amount: STAKES[choose(`amount ${i} ${j}`, STAKES.length)] });
    if (i % 5 === 0) chips[chips.length - 1] = chips[0]; // equal chips are added up
    bets.push({ chips });
  }
  return bets;
}
function minesBets() {
  const bets = [];
  for (let mineCount = 1; mineCount <= 24; mineCount++) {
    const safe = 25 - mineCount;
    bets.push({ mineCount, open: safe, hit: false }, { mineCount, open: 1, hit: false }, { mineCount, open: (safe + 1) >> 1, hit: false });
    bets.push({ mineCount, open: 0, hit: true }, { mineCount, open: safe - 1, hit: true });
  }
  return bets;
}

// Opens tiles 0, 1, 2, ... from a tile of the label's choice on; the stream is read on a copy, so the round itself is still to be played.
function pickTiles(bet, signature, label) {
  const board = v.minesBoard(v.streamOf(signature), bet.mineCount), start = choose(`${label} first tile`, 25);
  const tiles = Array.from({ length: 25 }, (_, i) => (start + i) % 25);
  const picks = tiles.filter((tile) => !board.includes(tile)).slice(0, bet.open);
  if (bet.hit) picks.push(tiles.find((tile) => board.includes(tile)));
  return { mineCount: bet.mineCount, picks };
}

const limboRaw = (signature) => 99n * 2n ** 64n / (2n ** 64n - v.streamOf(signature).word64()); // before it is held between 100 and 1000000

function flagsOf(game, row, bet, signature, wordsRead) {
  const flags = [], add = (condition, flag) => { if (condition) flags.push(flag); };
  const length = row.clientSeed.length;
  add(row.nonce === 0, "nonce-0");
  add(row.nonce === 4294967294, "nonce-max");
  for (const n of [1, 59, 60, 64]) add(length === n, `client-seed-${n}-byte${n === 1 ? "" : "s"}`);
  add(row.clientSeed.includes(":"), "client-seed-with-colons");
  add(64 + 1 + length + 1 + String(row.nonce).length > 135, "second-block");
  add(wordsRead > { dice: 1, limbo: 2, roulette: 1, mines: bet.mineCount }[game], "rejected-word");
  if (game === "dice") add(["OVER 199", "OVER 9998", "UNDER 1", "UNDER 9800"].includes(`${bet.direction} ${bet.target}`), "extreme-target");
  if (game === "dice") add(bet.roll === bet.target, `dice-tie-${bet.direction.toLowerCase()}`);
  if (game === "limbo") {
    const raw = limboRaw(signature);
    add(bet.targetE2 === 101 || bet.targetE2 === 1000000, "extreme-target");
    add(raw < 100n, "limbo-clamped-low");
    add(raw >= 1000000n, "limbo-high");
    add(bet.outcomeE2 === bet.targetE2, "limbo-tie");
  }
  if (game === "roulette") {
    add(bet.pocket === 0, "zero-pocket");
    if (bet.chips.length === 1) flags.push(`chip-${bet.chips[0].kind.toLowerCase().replace("_", "-")}`);
    add(bet.chips.length > 1, "multi-chip");
  }
  if (game === "mines") add(!bet.hitMine && bet.picks.length === 25 - bet.mineCount, "last-tile");
  return flags;
}

function makeRow(game, id, serverSeed, clientSeed, nonce, wanted, stakeText) {
  const signature = v.signatureOf(serverSeed, clientSeed, nonce);
  const bet = game === "mines" ? pickTiles(wanted, signature, id) : wanted;
  const stake = game === "roulette" ? bet.chips.reduce((sum, chip) => sum + BigInt(chip.amount), 0n) : BigInt(stakeText);
  const stream = v.streamOf(signature);
  let wordsRead = 0;
  const counted = { word32: () => { wordsRead++; return stream.word32(); }, word64: () => { wordsRead += 2; return stream.word64(); } };
  const result = v.play(game, bet, stake, counted);
  const shown = { ...bet, ...result.drawn, ...result.flag };
  const row = { id, flags: [], serverSeed, clientSeed, nonce, commitment: v.commitmentOf(serverSeed), signature, game, stake: String(stake),
    [game]: shown, multiplierE4: String(result.multiplierE4), payout: String(result.payout) };
  row.flags = flagsOf(game, row, shown, signature, wordsRead);
  return row;
}

function gameRows(game, bets) {
  const rows = [];
  const add = (serverSeed, clientSeed, nonce, bet, stake) => {
    const id = `${game}-${String(rows.length + 1).padStart(4, "0")}`;
    rows.push(makeRow(game, id, serverSeed, clientSeed, nonce, bet, stake || STAKES[choose(`${id} stake`, STAKES.length)]));
  };
  bets.forEach((bet, i) => add(hash(`server seed ${game} ${i}`), hash(`client seed ${game} ${i}`).slice(0, 32), choose(`nonce ${game} ${i}`, 100000), bet));
  EDGE_CLIENT_SEEDS.forEach((clientSeed, i) => add(hash(`server seed ${game} edge ${i}`), clientSeed, [4294967294, 1000000000, i][i % 3], bets[choose(`${game} edge ${i}`, bets.length)]));
  for (const serverSeed of ["0".repeat(64), "f".repeat(64)]) EDGE_NONCES.forEach((nonce, i) => add(serverSeed, "edge-of-the-nonce", nonce, bets[choose(`${game} nonce ${i}`, bets.length)]));
  (REJECTED[game] || []).forEach((nonce, i) => {
    const bet = game === "mines" ? { mineCount: 24 - (i % 2), open: 1, hit: false } : bets[choose(`${game} rejected ${i}`, bets.length)];
    add(hash("server seed rejected-word"), "rejected-word", nonce, bet);
  });
  if (game === "dice") {
    for (const { serverSeed, clientSeed, nonce, dice: { roll } } of rows.slice(40, 46)) { // a tie loses either way
      if (roll >= 199 && roll <= 9998) add(serverSeed, clientSeed, nonce, { target: roll, direction: "OVER" });
      if (roll >= 1 && roll <= 9800) add(serverSeed, clientSeed, nonce, { target: roll, direction: "UNDER" });
    }
  }
  if (game === "limbo") {
    LIMBO_HIGH.forEach((nonce, i) => add(hash("server seed limbo"), "limbo", nonce, { targetE2: [1000000, 999999, 101][i % 3] }));
    const low = Array.from({ length: 500 }, (_, nonce) => nonce).filter((nonce) => limboRaw(v.signatureOf(hash("server seed limbo"), "limbo", nonce)) < 100n);
    for (const nonce of low.slice(0, 4)) add(hash("server seed limbo"), "limbo", nonce, { targetE2: 101 });
    for (const row of rows.slice(30, 40)) if (row.limbo.outcomeE2 > 100) add(row.serverSeed, row.clientSeed, row.nonce, { targetE2: row.limbo.outcomeE2 });
  }
  if (game === "mines") for (const mineCount of [12, 13]) add(hash("server seed mines"), "largest-payout-up-to-2^53-1", mineCount, { mineCount, open: 25 - mineCount, hit: false }, "1749549269");
  if (game === "roulette") {
    const zeros = rows.filter((row) => row.roulette.pocket === 0).slice(0, 3);
    for (const row of zeros) for (const chip of [{ kind: "STRAIGHT", numbers: [0] }, { kind: "RED", numbers: [] }, { kind: "FIRST_FOUR", numbers: [0, 1, 2, 3] }]) add(row.serverSeed, row.clientSeed, row.nonce, { chips: [{ ...chip, amount: "1000" }] });
  }
  return rows;
}

// Words around the thresholds of limbo: the least v that reaches an outcome, with its neighbours, and both ends.
function limboWords() {
  const top = 2n ** 64n, words = new Set([0n, 1n, 2n ** 63n, top - 100n, top - 99n, top - 98n, top - 2n, top - 1n]);
  for (const target of [101n, 102n, 103n, 150n, 200n, 201n, 1000n, 10000n, 100000n, 999999n, 1000000n]) {
    const least = top - 99n * top / target;
    for (const word of [least - 1n, least, least + 1n]) words.add(word);
  }
  return [...words].sort((a, b) => (a < b ? -1 : 1)).map((word) => ({ v: String(word), outcomeE2: v.limboOutcomeE2(word) }));
}

// vectorsFile returns the file, one row a line.
function vectorsFile() {
  const rows = [...gameRows("dice", diceBets()), ...gameRows("limbo", limboBets()), ...gameRows("roulette", rouletteBets()), ...gameRows("mines", minesBets())];
  const lines = (list) => list.map((row) => JSON.stringify(row)).join(",\n");
  return `{"scheme":"originals-v1","source":"scripts/verify/js/verify.js vectors",\n"rows":[\n${lines(rows)}\n],\n"limboWords":[\n${lines(limboWords())}\n]}\n`;
}

// checkRow tells whether every value of a row follows from its seeds and its bet.
function checkRow(row) {
  const { [row.game]: shown, ...rest } = row;
  const bet = row.game === "mines" ? { mineCount: shown.mineCount, picks: shown.picks } : shown;
  const signature = v.signatureOf(row.serverSeed, row.clientSeed, row.nonce);
  if (row.game === "roulette" && bet.chips.reduce((sum, chip) => sum + BigInt(chip.amount), 0n) !== BigInt(row.stake)) return false;
  const result = v.play(row.game, bet, BigInt(row.stake), v.streamOf(signature));
  const right = { ...result.drawn, ...result.flag };
  return rest.commitment === v.commitmentOf(row.serverSeed) && rest.signature === signature && rest.multiplierE4 === String(result.multiplierE4) &&
    rest.payout === String(result.payout) && Object.keys(right).every((key) => JSON.stringify(right[key]) === JSON.stringify(shown[key]));
}

function check(file) {
  const { rows, limboWords: words } = JSON.parse(require("fs").readFileSync(file, "utf8"));
  const failed = rows.filter((row) => !checkRow(row)).map((row) => row.id);
  failed.push(...words.filter((row) => v.limboOutcomeE2(BigInt(row.v)) !== row.outcomeE2).map((row) => `limboWord ${row.v}`));
  for (const id of failed) console.log(`differs: ${id}`);
  console.log(`${rows.length + words.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}

module.exports = { vectorsFile };
if (require.main === module && process.argv[2] === "check") process.exitCode = check(process.argv[3]);
