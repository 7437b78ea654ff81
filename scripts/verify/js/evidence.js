// Makes internal/vectors/evidence: documents that hold, and documents with one fault each, with the verdict that every
// verifier must reach in index.json and options.json.   node evidence.js FOLDER
"use strict";
const fs = require("fs"), path = require("path");
const v = require("./verify.js");

// ---- documents that hold -----------------------------------------------------------------------------------------------

const hash = (label) => v.commitmentOf(`originals-v1 evidence: ${label}`);
const clone = (value) => JSON.parse(JSON.stringify(value));
const second = (n, fraction = ".000") => `2026-01-31T23:${String(Math.floor(n / 60)).padStart(2, "0")}:${String(n % 60).padStart(2, "0")}${fraction}Z`;

function newDocument(label, clientSeed) {
  const serverSeed = hash(`server seed ${label}`);
  return {
    format: "originals-evidence-v1",
    seedPair: {
      seedPairId: `p17-${hash(label).slice(0, 16)}`, scheme: "originals-v1", state: "REVEALED", commitment: v.commitmentOf(serverSeed), clientSeed, nonce: 0,
      serverSeed, createTime: second(0), revealTime: "2026-02-01T00:00:00Z", revealReason: "ROTATED",
    },
    rounds: [],
  };
}

const streamAt = (document, nonce) => v.streamOf(v.signatureOf(document.seedPair.serverSeed, document.seedPair.clientSeed, nonce));

// addRound plays the next nonce. bet may be a function of what will be drawn, so that a round can be made to win, to lose or to tie.
function addRound(document, game, amount, bet, { isVoid = false, currency = "FUN", times } = {}) {
  const pair = document.seedPair, nonce = pair.nonce++;
  const neutral = { dice: { target: 5000, direction: "OVER" }, limbo: { targetE2: 200 }, roulette: { chips: [] }, mines: { mineCount: 24, picks: [] } }[game];
  if (typeof bet === "function") bet = bet(v.play(game, neutral, 0n, streamAt(document, nonce)).drawn);
  const stake = game === "roulette" ? bet.chips.reduce((sum, chip) => sum + BigInt(chip.amount), 0n) : BigInt(amount);
  const result = v.play(game, bet, stake, streamAt(document, nonce));
  const extra = game === "mines" ? { maxPicks: 25 - bet.mineCount, nextMultiplierE4: "0" } : {};
  const [createTime, settleTime] = times || [second(2 * nonce + 1), second(2 * nonce + 2)];
  document.rounds.push({
    roundId: `${pair.seedPairId}-${nonce}`, betId: `bet_${nonce}`, game: game.toUpperCase(), scheme: pair.scheme, state: isVoid ? "VOID" : "SETTLED", seedPairId: pair.seedPairId,
    commitment: pair.commitment, clientSeed: pair.clientSeed, nonce, stake: { currency, amount: String(stake) },
    payout: { currency, amount: String(isVoid ? stake : result.payout) }, multiplierE4: String(isVoid ? 0n : result.multiplierE4), createTime, settleTime,
    [game]: { ...bet, ...extra, ...result.drawn, ...result.flag },
  });
  return document;
}

// The neutral mines draw has 24 mines: its order begins with the mines of every smaller count.
const safeTiles = (mineCount, count) => ({ mines }) => ({ mineCount, picks: [...Array(25).keys()].filter((tile) => !mines.slice(0, mineCount).includes(tile)).slice(0, count) });
const thenMine = (mineCount, count) => (drawn) => { const bet = safeTiles(mineCount, count)(drawn); return { mineCount, picks: [...bet.picks, drawn.mines[0]] }; };

const WON_DICE = 0, LOST_DICE = 1, TIED_DICE = 2, TIED_LIMBO = 3, WON_ROULETTE = 4, LOST_ROULETTE = 5, CASHED_MINES = 6, HIT_MINES = 7, VOID_MINES = 8; // nonces in everyKind
function everyKind() {
  const document = newDocument("every kind", hash("client seed").slice(0, 32));
  addRound(document, "dice", 101, ({ roll }) => ({ target: Math.max(199, Math.min(9998, roll - 777)), direction: "OVER" }));
  addRound(document, "dice", 100, ({ roll }) => ({ target: Math.min(9800, roll - 5), direction: "UNDER" }));
  addRound(document, "dice", 100, ({ roll }) => ({ target: Math.max(199, roll), direction: "OVER" }));
  addRound(document, "limbo", 100, ({ outcomeE2 }) => ({ targetE2: Math.max(101, outcomeE2) }));
  addRound(document, "roulette", 0, ({ pocket }) => ({ chips: [{ kind: "STRAIGHT", numbers: [pocket], amount: "7" }, { kind: "RED", numbers: [], amount: "100" }, { kind: "BLACK", numbers: [], amount: "50" }] }));
  addRound(document, "roulette", 0, ({ pocket }) => ({ chips: [{ kind: "STRAIGHT", numbers: [(pocket + 1) % 37], amount: "100" }, { kind: "SPLIT", numbers: pocket === 0 ? [17, 20] : [0, pocket === 1 ? 2 : 1], amount: "5" }] }));
  addRound(document, "mines", 1001, safeTiles(3, 5));
  addRound(document, "mines", 100, thenMine(5, 2));
  addRound(document, "mines", 100, safeTiles(3, 0), { isVoid: true });
  return document;
}

function goodDocuments() {
  const long = newDocument("long", hash("another client seed").slice(0, 32));
  const fractions = ["", ".001", ".001001", ".001001001"];
  for (let i = 0; i < 40; i++) {
    const times = [second(3 * i, fractions[i % 4]), second(3 * i, fractions[(i + 1) % 4] || ".5".padEnd(4, "0"))];
    const options = { times, currency: ["FUN", "BTC", "USD"][i % 3] };
    if (i % 4 === 0) addRound(long, "dice", 100 + i, { target: 4900 + i, direction: i % 8 ? "OVER" : "UNDER" }, options);
    if (i % 4 === 1) addRound(long, "limbo", 9007199254, { targetE2: 150 + i }, options);
    if (i % 4 === 2) addRound(long, "roulette", 0, { chips: [{ kind: "DOZEN", numbers: [1 + i % 3], amount: "30" }, { kind: "CORNER", numbers: [1, 2, 4, 5], amount: "9007199254" }, { kind: "CORNER", numbers: [1, 2, 4, 5], amount: "1" }] }, options);
    if (i % 4 === 3) addRound(long, "mines", 100, i % 8 === 3 ? safeTiles(1 + i % 24, 1) : thenMine(1 + i % 20, i % 4), options);
  }
  const weak = newDocument("weak", "x");
  for (let i = 0; i < 3; i++) addRound(weak, "dice", 1, { target: 1, direction: "UNDER" });
  const marks = addRound(newDocument("marks", ":\"\\/'<>&::0:"), "limbo", 5, { targetE2: 1000000 });
  const unused = newDocument("unused", "");
  Object.assign(unused.seedPair, { state: "UNUSED", revealReason: "STORE_REPLACED" });
  const lastTile = addRound(newDocument("last tile", "every-safe-tile-opened"), "mines", 1749549269, safeTiles(12, 13));
  const unicode = addRound(newDocument("unicode", "reason-in-any-script"), "limbo", 5, { targetE2: 101 });
  unicode.seedPair.revealReason = "на запрос \u{1F3B2} \"ticket\"\n7";
  const shown = addRound(newDocument("hidden board", "a-board-never-shown"), "mines", 5, safeTiles(2, 0), { isVoid: true });
  shown.rounds[0].mines.mines = [];
  const early = everyKind();
  early.seedPair.revealTime = second(3);
  delete early.seedPair.revealReason;
  return { "every-kind": everyKind(), long, weak, marks, unused, "no-bets": newDocument("no bets", "not-one-bet-was-made"), "last-tile": lastTile, unicode, "void-without-board": shown, "revealed-early": early };
}

// ---- one fault each ----------------------------------------------------------------------------------------------------

const edit = (change) => { const document = everyKind(); change(document, document.rounds, document.seedPair); return document; };
const round = (nonce, change) => edit((_, rounds) => change(rounds[nonce], rounds[nonce][rounds[nonce].game.toLowerCase()]));
const everywhere = (document, commitment) => { document.seedPair.commitment = commitment; for (const one of document.rounds) one.commitment = commitment; };
const renumber = (rounds) => rounds.forEach((one, i) => { one.betId = `bet_again_${i}`; });
const plus = (text, n) => String(BigInt(text) + BigInt(n));

const FAILED = {
  commitment: {
    "of-another-server-seed": edit((document) => everywhere(document, hash("another commitment"))),
    "pasted-as-server-seed": edit((document, _, pair) => { pair.serverSeed = pair.commitment; }),
    "of-the-raw-bytes": edit((document, _, pair) => everywhere(document, v.sha3(Buffer.from(pair.serverSeed, "hex")))),
    "server-seed-off-by-one-digit": edit((document, _, pair) => { pair.serverSeed = pair.serverSeed.slice(0, 63) + (pair.serverSeed[63] === "0" ? "1" : "0"); }),
    "unused-pair": (() => { const document = goodDocuments().unused; document.seedPair.commitment = hash("other"); return document; })(),
  },
  identity: {
    "round-commitment": round(LOST_DICE, (one) => { one.commitment = hash("other"); }),
    "round-client-seed": round(LOST_DICE, (one) => { one.clientSeed = one.clientSeed.toUpperCase(); }),
    "round-scheme": round(WON_ROULETTE, (one) => { one.scheme = "originals-v2"; }),
    "round-seed-pair": round(HIT_MINES, (one) => { one.seedPairId = "p17-another"; }),
    "round-id": round(TIED_LIMBO, (one) => { one.roundId = one.roundId.replace(/3$/, "4"); }),
    "bet-twice": edit((_, rounds) => { rounds[5].betId = rounds[1].betId; }),
  },
  nonce: {
    "gap": edit((_, rounds) => rounds.splice(4, 1)),
    "gap-with-count-lowered": edit((_, rounds, pair) => { rounds.splice(4, 1); pair.nonce--; }),
    "first-missing": edit((_, rounds, pair) => { rounds.shift(); pair.nonce--; }),
    "last-missing": edit((_, rounds) => rounds.pop()),
    "count-too-high": edit((_, rounds, pair) => { pair.nonce = 4294967295; }),
    "count-too-low": edit((_, rounds, pair) => { pair.nonce--; }),
    "twice": edit((_, rounds, pair) => { rounds.splice(4, 0, clone(rounds[4])); renumber(rounds); pair.nonce++; }),
    "out-of-order": edit((_, rounds) => { for (const one of rounds) one.createTime = second(1); rounds.reverse(); }),
  },
  order: {
    "made-before-its-predecessor": edit((_, rounds) => { rounds[4].createTime = second(0); }),
    "settled-before-made": edit((_, rounds) => { rounds[4].settleTime = second(0); }),
    "by-a-nanosecond": edit((_, rounds) => { rounds[4].createTime = second(9, ".100000001"); rounds[5].createTime = second(9, ".100000"); }),
    "longer-fraction-is-not-later": edit((_, rounds) => { rounds[4].createTime = second(9, ".100"); rounds[5].createTime = second(9, ".099999999"); }),
    "settled-before-made-by-a-nanosecond": edit((_, rounds) => { rounds[4].createTime = second(9, ".100000001"); rounds[4].settleTime = second(9, ".100"); }),
    "whole-second-after-fraction": edit((_, rounds) => { rounds[4].createTime = second(9, ".001"); rounds[5].createTime = second(9, ""); }),
  },
  outcome: {
    "roll": round(WON_DICE, (one, game) => { game.roll += 1; }),
    "roll-of-the-next-nonce": edit((document, rounds) => { rounds[1].dice.roll = v.play("dice", rounds[1].dice, 1n, streamAt(document, 2)).drawn.roll; }),
    "roll-one-off": round(LOST_DICE, (one, game) => { game.roll = game.roll === 9999 ? 9998 : game.roll + 1; }),
    "limbo": round(TIED_LIMBO, (one, game) => { game.outcomeE2 += 1; }),
    "pocket": round(LOST_ROULETTE, (one, game) => { game.pocket = (game.pocket + 2) % 37; }),
    "mine-moved": round(CASHED_MINES, (one, game) => { game.mines[2] = [...Array(25).keys()].find((tile) => !game.mines.includes(tile) && !game.picks.includes(tile)); }),
    "mines-in-another-order": round(HIT_MINES, (one, game) => game.mines.reverse()),
    "mine-missing": round(CASHED_MINES, (one, game) => game.mines.pop()),
    "board-not-shown": round(CASHED_MINES, (one, game) => { game.mines = []; }),
    "void-board-wrong": round(VOID_MINES, (one, game) => game.mines.reverse()),
    "void-dice": round(LOST_DICE, (one) => { one.state = "VOID"; one.payout.amount = one.stake.amount; }),
    "void-with-a-pick": round(HIT_MINES, (one) => { one.state = "VOID"; one.payout.amount = one.stake.amount; }),
    "settled-without-a-pick": round(VOID_MINES, (one) => { one.state = "SETTLED"; one.payout.amount = "0"; }),
  },
  win: {
    "dice-tie-called-won": round(TIED_DICE, (one, game) => { game.win = true; }),
    "dice-tie-under-called-won": edit((document, rounds) => {
      const one = rounds[TIED_DICE], tied = Math.min(9800, one.dice.roll);
      Object.assign(one.dice, { target: tied, direction: "UNDER", win: true });
    }),
    "dice-win-called-lost": round(WON_DICE, (one, game) => { game.win = false; }),
    "limbo-tie-called-lost": round(TIED_LIMBO, (one, game) => { game.win = false; }),
    "mine-not-called": round(HIT_MINES, (one, game) => { game.hitMine = false; }),
    "mine-called-on-a-safe-tile": round(CASHED_MINES, (one, game) => { game.hitMine = true; }),
    "picks-after-a-mine": round(HIT_MINES, (one, game) => { game.picks = [game.mines[0], game.mines[1]]; }),
  },
  multiplier: {
    "dice-one-up": round(WON_DICE, (one) => { one.multiplierE4 = plus(one.multiplierE4, 1); }),
    "dice-one-down": round(WON_DICE, (one) => { one.multiplierE4 = plus(one.multiplierE4, -1); }),
    "on-a-lost-bet": round(LOST_DICE, (one) => { one.multiplierE4 = "19800"; }),
    "limbo-outcome-for-target": round(TIED_LIMBO, (one) => { one.multiplierE4 = plus(one.multiplierE4, 100); }),
    "roulette": round(WON_ROULETTE, (one) => { one.multiplierE4 = plus(one.multiplierE4, 1); }),
    "mines-one-pick-less": round(CASHED_MINES, (one, game) => { one.multiplierE4 = String(v.minesMultiplierE4(3, game.picks.length - 1)); }),
    "mines-next-after-the-end": round(CASHED_MINES, (one, game) => { game.nextMultiplierE4 = String(v.minesMultiplierE4(3, game.picks.length + 1)); }),
    "of-a-void-round": round(VOID_MINES, (one) => { one.multiplierE4 = "10000"; }),
  },
  payout: {
    "one-unit-less": round(WON_DICE, (one) => { one.payout.amount = plus(one.payout.amount, -1); }),
    "rounded-up": round(CASHED_MINES, (one) => { one.payout.amount = plus(one.payout.amount, 1); }),
    "not-paid": round(TIED_LIMBO, (one) => { one.payout.amount = "0"; }),
    "paid-on-a-loss": round(LOST_DICE, (one) => { one.payout.amount = one.stake.amount; }),
    "roulette-without-the-stake": round(WON_ROULETTE, (one) => { one.payout.amount = plus(one.payout.amount, -7); }),
    "void-not-refunded": round(VOID_MINES, (one) => { one.payout.amount = "0"; }),
    "in-another-currency": round(WON_DICE, (one) => { one.payout.currency = "BTC"; }),
  },
  stake: {
    "more-than-its-chips": round(LOST_ROULETTE, (one) => { one.stake.amount = plus(one.stake.amount, 1); }),
    "less-than-its-chips": round(LOST_ROULETTE, (one) => { one.stake.amount = plus(one.stake.amount, -1); }),
  },
};

// For what a document may not hold one bet is enough.
const tiny = () => addRound(newDocument("tiny", "0123456789abcdef"), "dice", 100, { target: 5000, direction: "OVER" });
const of = (game, bet, options) => addRound(newDocument("tiny", "0123456789abcdef"), game, 100, bet, options);
const bad = (change, document = tiny()) => { const one = document.rounds[0]; change(document, one, one && one[one.game.toLowerCase()], document.seedPair); return document; };
const raw = (from, to) => { const text = show(tiny()); if (!text.includes(from)) throw new Error(`${from} is not in the document`); return text.replace(from, to); };
const chips = (...list) => bad((_, one, game) => { game.chips = list; }, of("roulette", { chips: [{ kind: "RED", numbers: [], amount: "100" }] }));
const picks = (change) => bad((_, one, game) => change(game), of("mines", safeTiles(3, 2)));

const UNUSABLE = {
  "empty": "", "only-space": " \n", "truncated": show(tiny()).slice(0, 900), "trailing-text": show(tiny()) + "x", "two-documents": show(tiny()) + show(tiny()),
  "byte-order-mark": "\ufeff" + show(tiny()), "not-utf8": Buffer.concat([Buffer.from(show(tiny()).replace("ROTATED\"}", "ROTATED")), Buffer.from([0xff, 0x22, 0x7d])]),
  "not-utf8-in-a-text": Buffer.from(raw("ROTATED", "ROTATED\u00e9"), "latin1"), "a-list": "[]", "null": "null", "a-comment": raw("{", "{/* */"), "trailing-comma": raw("}]}", "},]}"),
  "single-quotes": raw('"format"', "'format'"), "nan": raw('"nonce":1', '"nonce":NaN'), "too-deep": "[".repeat(100000), "control-character": raw("ROTATED", "ROTA\tTED"),
  "half-a-character": raw("ROTATED", "ROTATED\\ud83c"), "no-break-space": raw("{", "{\u00a0"),
  "key-twice": raw('"nonce":1', '"nonce":1,"nonce":1'), "key-twice-escaped": raw('"nonce":1', '"nonce":1,"n\\u006fnce":1'), "key-twice-in-a-round": raw('"roll"', '"win":true,"roll"'),
  "key-in-another-case": raw('"nonce":1', '"Nonce":1'), "key-in-two-cases": raw('"nonce":1', '"nonce":1,"NONCE":1'), "key-unknown": raw('"rounds"', '"count":1,"rounds"'),
  "key-unknown-in-a-round": bad((_, one) => { one.balance = "5"; }), "key-unknown-in-a-game": bad((_, one, game) => { game.multiplier = 2; }), "key-constructor": raw('"rounds"', '"constructor":1,"rounds"'),
  "key-proto": raw('"rounds"', '"__proto__":{},"rounds"'), "key-missing": bad((_, one) => { delete one.settleTime; }), "key-missing-in-the-pair": bad((_, one, game, pair) => { delete pair.serverSeed; }),
  "rounds-missing": bad((document) => { delete document.rounds; }), "rounds-an-object": bad((document) => { document.rounds = {}; }), "value-null": bad((_, one) => { one.betId = null; }), "optional-null": bad((_, one, game, pair) => { pair.revealReason = null; }),
  "another-format": bad((document) => { document.format = "originals-evidence-v2"; }), "another-scheme": bad((_, one, game, pair) => { pair.scheme = "originals-v2"; one.scheme = "originals-v2"; }),
  "server-seed-upper-case": bad((_, one, game, pair) => { pair.serverSeed = pair.serverSeed.toUpperCase(); }), "server-seed-with-space": bad((_, one, game, pair) => { pair.serverSeed += " "; }),
  "server-seed-with-newline": bad((_, one, game, pair) => { pair.serverSeed += "\n"; }), "server-seed-short": bad((_, one, game, pair) => { pair.serverSeed = pair.serverSeed.slice(1); }),
  "server-seed-with-nul": bad((_, one, game, pair) => { pair.serverSeed += "\u0000"; }), "server-seed-empty": bad((_, one, game, pair) => { pair.serverSeed = ""; }), "server-seed-not-hex": bad((_, one, game, pair) => { pair.serverSeed = pair.serverSeed.replace(/./, "g"); }),
  "commitment-0x": bad((_, one, game, pair) => { pair.commitment = `0x${pair.commitment}`; }), "commitment-upper-case": bad((_, one) => { one.commitment = one.commitment.toUpperCase(); }),
  "client-seed-empty": bad((_, one, game, pair) => { pair.clientSeed = one.clientSeed = ""; }), "client-seed-65-bytes": bad((_, one, game, pair) => { pair.clientSeed = one.clientSeed = "a".repeat(65); }),
  "client-seed-with-a-space": bad((_, one, game, pair) => { pair.clientSeed = one.clientSeed = "a b"; }), "client-seed-not-ascii": bad((_, one, game, pair) => { pair.clientSeed = one.clientSeed = "caf\u00e9"; }), "client-seed-newline": bad((_, one, game, pair) => { pair.clientSeed = one.clientSeed = "abc\n"; }),
  "nonce-false": bad((_, one) => { one.nonce = false; }), "roll-true": bad((_, one, game) => { game.roll = true; }), "win-text": bad((_, one, game) => { game.win = String(game.win); }), "nonce-text": bad((_, one) => { one.nonce = "0"; }), "nonce-negative": raw('"nonce":0', '"nonce":-0'), "nonce-fraction": raw('"nonce":0', '"nonce":0.0'), "nonce-exponent": raw('"nonce":1', '"nonce":1e0'), "nonce-leading-zero": raw('"nonce":0', '"nonce":00'),
  "nonce-too-large": bad((_, one) => { one.nonce = 4294967295; }), "nonce-of-the-pair-too-large": bad((_, one, game, pair) => { pair.nonce = 4294967296; }), "nonce-huge": raw('"nonce":0', `"nonce":1${"0".repeat(5000)}`),
  "amount-number": bad((_, one) => { one.stake.amount = 100; }), "amount-leading-zero": bad((_, one) => { one.stake.amount = "0100"; }), "amount-plus": bad((_, one) => { one.stake.amount = "+100"; }), "amount-exponent": bad((_, one) => { one.stake.amount = "1e2"; }),
  "amount-fraction": bad((_, one) => { one.stake.amount = "100.0"; }), "amount-2-to-the-53": bad((_, one) => { one.stake.amount = "9007199254740992"; }), "stake-zero": bad((_, one) => { one.stake.amount = "0"; }), "payout-negative": bad((_, one) => { one.payout.amount = "-1"; }),
  "amount-other-digits": bad((_, one) => { one.stake.amount = "\u0661\u0660\u0660"; }), "multiplier-number": bad((_, one) => { one.multiplierE4 = 19801; }), "multiplier-too-large": bad((_, one) => { one.multiplierE4 = "51482970001"; }), "currency-lower-case": bad((_, one) => { one.stake.currency = "fun"; }),
  "currency-one-letter": bad((_, one) => { one.stake.currency = "F"; }),
  "time-without-zone": bad((_, one) => { one.createTime = "2026-01-31T23:00:00.000"; }), "time-with-offset": bad((_, one) => { one.createTime = "2026-01-31T23:00:00.000+00:00"; }), "time-two-decimals": bad((_, one) => { one.createTime = "2026-01-31T23:00:00.00Z"; }),
  "time-february-30": bad((_, one) => { one.createTime = "2026-02-30T23:00:00Z"; }), "time-february-29-of-no-leap-year": bad((_, one) => { one.createTime = "1900-02-29T23:00:00Z"; }), "time-24-hours": bad((_, one) => { one.createTime = "2026-01-31T24:00:00Z"; }), "time-lower-case": bad((_, one) => { one.createTime = "2026-01-31t23:00:00z"; }),
  "time-leap-second": bad((_, one) => { one.settleTime = "2026-12-31T23:59:60Z"; }), "time-number": bad((_, one) => { one.createTime = 1769900400; }),
  "round-open": bad((_, one) => { one.state = "OPEN"; }), "pair-active": bad((_, one, game, pair) => { pair.state = "ACTIVE"; }), "pair-retired": bad((_, one, game, pair) => { pair.state = "RETIRED"; }),
  "game-unknown": bad((_, one) => { one.game = "CRASH"; }), "game-lower-case": bad((_, one) => { one.game = "dice"; }), "game-and-other-parameters": bad((_, one, game) => { one.game = "LIMBO"; }), "game-twice": bad((_, one) => { one.limbo = { targetE2: 200, outcomeE2: 100, win: false }; }),
  "bet-id-41-characters": bad((_, one) => { one.betId = "b".repeat(41); }), "bet-id-alphabet": bad((_, one) => { one.betId = "bet.0"; }), "seed-pair-id-upper-case": bad((_, one, game, pair) => { pair.seedPairId = one.seedPairId = "P17"; one.roundId = "P17-0"; }), "win-a-number": bad((_, one, game) => { game.win = 1; }),
  "dice-over-9999": bad((_, one, game) => { game.target = 9999; game.win = false; one.payout.amount = one.multiplierE4 = "0"; }), "dice-over-198": bad((_, one, game) => { game.target = 198; }), "dice-under-9801": bad((_, one, game) => { game.target = 9801; game.direction = "UNDER"; }),
  "dice-under-0": bad((_, one, game) => { game.target = 0; game.direction = "UNDER"; }), "dice-direction": bad((_, one, game) => { game.direction = "over"; }), "limbo-target-100": bad((_, one, game) => { game.targetE2 = 100; }, of("limbo", { targetE2: 200 })), "limbo-target-1000001": bad((_, one, game) => { game.targetE2 = 1000001; }, of("limbo", { targetE2: 200 })),
  "chips-none": chips(), "chips-33": chips(...Array(33).fill({ kind: "RED", numbers: [], amount: "1" })), "chip-split-apart": chips({ kind: "SPLIT", numbers: [3, 4], amount: "100" }), "chip-descending": chips({ kind: "SPLIT", numbers: [2, 1], amount: "100" }),
  "chip-repeated-number": chips({ kind: "SPLIT", numbers: [1, 1], amount: "100" }), "chip-red-with-numbers": chips({ kind: "RED", numbers: [1], amount: "100" }), "chip-dozen-4": chips({ kind: "DOZEN", numbers: [4], amount: "100" }), "chip-street-off": chips({ kind: "STREET", numbers: [2, 3, 4], amount: "100" }),
  "chip-straight-37": chips({ kind: "STRAIGHT", numbers: [37], amount: "100" }), "chip-unknown-kind": chips({ kind: "BASKET", numbers: [0, 1, 2, 3], amount: "100" }), "chip-amount-zero": chips({ kind: "RED", numbers: [], amount: "0" }), "chip-no-numbers": chips({ kind: "STRAIGHT", numbers: [], amount: "100" }),
  "mines-none": picks((game) => { game.mineCount = 0; }), "mines-25": picks((game) => { game.mineCount = 25; }), "mines-tile-25": picks((game) => { game.picks = [25]; }), "mines-pick-twice": picks((game) => { game.picks = [game.picks[0], game.picks[0]]; }),
  "mines-too-many-picks": picks((game) => { game.maxPicks = 1; }), "mines-max-picks-too-high": picks((game) => { game.maxPicks = 23; }),
  "unused-with-client-seed": bad((document, one, game, pair) => { pair.clientSeed = "x"; }, goodDocuments().unused), "unused-with-nonce": bad((document, one, game, pair) => { pair.nonce = 1; }, goodDocuments().unused),
};

// ---- the files ---------------------------------------------------------------------------------------------------------

function show({ rounds, ...head }) { // one round a line
  if (!Array.isArray(rounds)) return JSON.stringify({ ...head, ...(rounds && { rounds }) }) + "\n";
  return `${JSON.stringify(head).slice(0, -1)},"rounds":[${rounds.length ? "\n" : ""}${rounds.map((one) => JSON.stringify(one)).join(",\n")}]}\n`;
}
const reversed = (value) => { // the same document with every key in the opposite order, and spread over many lines
  if (Array.isArray(value)) return value.map(reversed);
  return value && typeof value === "object" ? Object.fromEntries(Object.entries(value).reverse().map(([key, inner]) => [key, reversed(inner)])) : value;
};

function files() {
  const result = new Map(), index = [];
  const add = (file, content, verdict, check) => {
    result.set(file, typeof content === "string" || Buffer.isBuffer(content) ? content : show(content));
    index.push({ file, verdict, check });
  };
  const good = goodDocuments();
  for (const [name, document] of Object.entries(good)) add(`good-${name}.json`, document, "CONSISTENT", "");
  add("good-keys-reversed.json", JSON.stringify(reversed(everyKind()), null, 1).replace(/\n/g, "\r\n"), "CONSISTENT", "");
  for (const [check, faults] of Object.entries(FAILED)) for (const [name, document] of Object.entries(faults)) add(`${check}-${name}.json`, document, "FAILED", check);
  for (const [name, document] of Object.entries(UNUSABLE)) add(`format-${name}.json`, document, "UNUSABLE", "format");

  // What a player kept changes the verdict.
  const options = [];
  const kept = (name, more) => options.push({ file: `good-${name}.json`, ...more });
  for (const [name, { seedPair }] of Object.entries(good)) {
    kept(name, { commitment: seedPair.commitment, verdict: "VERIFIED", check: "" });
    kept(name, { commitment: hash("another promise"), verdict: "FAILED", check: "commitment" });
    if (seedPair.nonce > 0) kept(name, { commitment: seedPair.commitment, lastNonce: seedPair.nonce - 1, verdict: "VERIFIED", check: "" });
    kept(name, { commitment: seedPair.commitment, lastNonce: seedPair.nonce, verdict: "FAILED", check: "nonce" });
  }
  kept("every-kind", { lastNonce: 8, verdict: "CONSISTENT", check: "" });
  kept("every-kind", { commitment: good["every-kind"].seedPair.commitment.toUpperCase(), verdict: "UNUSABLE", check: "format" });
  kept("every-kind", { commitment: `${good["every-kind"].seedPair.commitment} `, verdict: "UNUSABLE", check: "format" });
  const lines = (list) => `[\n${list.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`;
  result.set("index.json", lines(index));
  result.set("options.json", lines(options));
  return result;
}

if (require.main === module) {
  const folder = process.argv[2];
  if (!folder) { console.error("usage: evidence.js FOLDER"); process.exit(2); }
  for (const [file, content] of files()) fs.writeFileSync(path.join(folder, file), content);
}
