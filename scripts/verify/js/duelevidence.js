// Makes internal/vectors/duel: duels that hold, and duels with one fault each, with the verdict that every verifier must
// reach in index.json.   node duelevidence.js FOLDER
"use strict";
const fs = require("fs"), path = require("path");
const d = require("./duel.js");

const hash = (label) => d.hex(d.sha256(d.utf8(`duel-v1 evidence: ${label}`)));
const clone = (value) => JSON.parse(JSON.stringify(value));

// newDuel is one that ended in good order after some plies.
function newDuel(label, mode, plies, sources = mode === "PLAIN" ? ["OWN", "OWN"] : ["COMMITTED", "COMMITTED"]) {
  const serverSeed = hash(`server seed ${label}`), duelId = `07-${hash(label).slice(0, 16)}`;
  const duel = { format: "originals-duel-v1", duelId, scheme: "duel-v1", mode, state: "ENDED", commitment: d.commitmentOf(serverSeed), serverSeed };
  ["white", "black"].forEach((name, i) => {
    const clientSeed = hash(`${name} ${label}`), fallbackSeed = hash(`${name} fallback ${label}`);
    const seat = { playerId: `${name}-player`, present: true };
    if (mode === "COMMITTED") seat.clientSeedHash = d.seatHashOf(duelId, name, clientSeed);
    seat.seeded = sources[i] !== "FALLBACK" && sources[i] !== undefined;
    if (sources[i]) Object.assign(seat, { clientSeed: sources[i] === "FALLBACK" ? fallbackSeed : clientSeed, source: sources[i] });
    if (mode === "PLAIN") Object.assign(seat, { fallbackHash: d.fallbackHashOf(fallbackSeed), fallbackSeed });
    duel[name] = seat;
  });
  duel.rolls = Array.from({ length: plies }, (_, ply) => ({ ply, dice: d.rollOf(serverSeed, duel.white.clientSeed, duel.black.clientSeed, ply) }));
  return Object.assign(duel, {
    graceSeconds: 5, expirySeconds: 86400, createTime: "2026-01-31T23:59:00.001Z", endTime: "2026-02-01T00:30:00Z", endReason: "GAME_SERVER", forfeitedBy: [], eventNumber: 7 + plies, ...(plies > 0 ? { lastPly: plies - 1 } : {}),
  });
}
const ends = (duel, state, endReason, forfeitedBy = []) => Object.assign(duel, { state, endReason, forfeitedBy });
function without(duel, seat, ...keys) {
  for (const key of keys) delete duel[seat][key];
  return duel;
}

const base = () => newDuel("base", "COMMITTED", 6);
const plain = () => newDuel("plain", "PLAIN", 6);
const fell = () => newDuel("fell back", "PLAIN", 4, ["OWN", "FALLBACK"]);
const forfeited = () => ends(newDuel("forfeited", "COMMITTED", 0, ["COMMITTED", undefined]), "FORFEITED", "GRACE_PERIOD", ["black"]);

const good = {
  committed: base(), plain: plain(), "fell-back-black": fell(), "fell-back-white": newDuel("fell back white", "PLAIN", 4, ["FALLBACK", "OWN"]), long: newDuel("long", "COMMITTED", 300),
  "no-rolls": newDuel("no rolls", "COMMITTED", 0), expired: ends(newDuel("expired", "COMMITTED", 3), "ENDED", "EXPIRED"), forfeited: forfeited(),
  "forfeited-by-both": ends(newDuel("forfeited by both", "COMMITTED", 0, [undefined, undefined]), "FORFEITED", "GRACE_PERIOD", ["white", "black"]),
  "void-by-silence": ends(without(newDuel("silence", "COMMITTED", 0, [undefined, undefined]), "white", "clientSeedHash"), "VOID", "GRACE_PERIOD"),
  "void-plain-by-silence": ends(newDuel("plain silence", "PLAIN", 0, [undefined, undefined]), "VOID", "GRACE_PERIOD"),
  "void-by-game-server": ends(newDuel("aborted", "PLAIN", 0, ["OWN", undefined]), "VOID", "GAME_SERVER"),
  "void-by-expiry": ends(newDuel("abandoned", "COMMITTED", 0, [undefined, undefined]), "VOID", "EXPIRED"),
  "void-by-store": ends(newDuel("store", "COMMITTED", 5), "VOID", "STORE_REPLACED"),
  "without-names": without(without(base(), "white", "playerId"), "black", "playerId"),
  "free-text": (() => {
    const duel = plain();
    duel.white.clientSeed = ":\"\\/'<>&white:0:~"; duel.black.clientSeed = "!".repeat(256);
    duel.rolls = duel.rolls.map(({ ply }) => ({ ply, dice: d.rollOf(duel.serverSeed, duel.white.clientSeed, duel.black.clientSeed, ply) }));
    return duel;
  })(),
};

const set = (make, change) => { const duel = make(); change(duel); return duel; };
const faults = {
  commitment: {
    "another-server-seed": set(base, (x) => { x.serverSeed = hash("another"); }), "server-seed-is-the-commitment": set(base, (x) => { x.serverSeed = x.commitment; }),
    "of-the-text": set(base, (x) => { x.commitment = d.fallbackHashOf(x.serverSeed); }),
  },
  seats: {
    "seed-not-the-hashed": set(base, (x) => { x.white.clientSeedHash = d.seatHashOf(x.duelId, "white", hash("another")); }), "hash-of-the-other-seat": set(base, (x) => { x.white.clientSeedHash = d.seatHashOf(x.duelId, "black", x.white.clientSeed); }),
    "hash-of-another-duel": set(base, (x) => { x.black.clientSeedHash = d.seatHashOf("07-another", "black", x.black.clientSeed); }), "hash-missing": without(base(), "black", "clientSeedHash"),
    "own-in-committed-mode": set(base, (x) => { x.white.source = "OWN"; }), "fallback-in-committed-mode": set(base, (x) => { x.white.source = "FALLBACK"; x.white.seeded = false; }),
    "fallback-hash-in-committed-mode": set(base, (x) => { x.white.fallbackHash = hash("x"); }), "committed-in-plain-mode": set(plain, (x) => { x.white.source = "COMMITTED"; }),
    "hash-in-plain-mode": set(plain, (x) => { x.white.clientSeedHash = d.seatHashOf(x.duelId, "white", x.white.clientSeed); }), "fallback-not-the-promised": set(fell, (x) => { x.black.fallbackHash = hash("another"); }),
    "fallback-unused-not-the-promised": set(fell, (x) => { x.white.fallbackHash = hash("another"); }), "fallback-hash-of-the-bytes": set(fell, (x) => { x.black.fallbackHash = d.commitmentOf(x.black.fallbackSeed); }),
    "own-called-fallback": set(plain, (x) => { x.white.source = "FALLBACK"; x.white.seeded = false; }), "fallback-missing": without(fell(), "white", "fallbackSeed"), "fallback-called-own": set(fell, (x) => { x.black.source = "OWN"; }),
    "fallback-called-own-and-seeded": set(fell, (x) => { x.black.source = "OWN"; x.black.seeded = true; }),
    "not-present": set(base, (x) => { x.white.present = false; }), "seeded-without-a-seed": set(forfeited, (x) => { x.black.seeded = true; x.forfeitedBy = []; x.state = "VOID"; x.endReason = "EXPIRED"; }),
    "forfeited-by-who-opened": set(forfeited, (x) => { x.forfeitedBy = ["white"]; }), "forfeited-by-nobody": set(forfeited, (x) => { x.forfeitedBy = []; }), "forfeited-twice": set(forfeited, (x) => { x.forfeitedBy = ["black", "black"]; }),
    "forfeit-in-an-ended-duel": set(base, (x) => { x.forfeitedBy = ["white"]; }), "seed-not-hex": set(() => newDuel("seed not hex", "COMMITTED", 0), (x) => { x.white.clientSeed = "g".repeat(64); x.white.clientSeedHash = d.seatHashOf(x.duelId, "white", x.white.clientSeed); }),
  },
  order: {
    "last-plies-missing": set(base, (x) => { x.rolls.splice(4, 2); }), "last-ply-of-no-roll": set(() => newDuel("no rolls", "COMMITTED", 0), (x) => { x.lastPly = 0; }), "last-ply-too-small": set(base, (x) => { x.lastPly = 4; }),
    "ply-missing": set(base, (x) => { x.rolls.splice(2, 1); }), "first-ply-missing": set(base, (x) => { x.rolls.shift(); }), "ply-twice": set(base, (x) => { x.rolls.splice(2, 0, clone(x.rolls[1])); }),
    "plies-swapped": set(base, (x) => { [x.rolls[1], x.rolls[2]] = [x.rolls[2], x.rolls[1]]; }), "rolled-before-the-seeds": set(forfeited, (x) => { x.rolls = [{ ply: 0, dice: [1, 2, 3] }]; }),
    "ended-by-grace": set(base, (x) => { x.endReason = "GRACE_PERIOD"; }), "ended-without-seeds": ends(newDuel("ended early", "COMMITTED", 0, [undefined, undefined]), "ENDED", "GAME_SERVER"),
    "void-with-seeds": set(base, (x) => { x.state = "VOID"; }), "forfeited-by-game-server": set(forfeited, (x) => { x.endReason = "GAME_SERVER"; }), "ended-before-made": set(base, (x) => { x.endTime = "2026-01-31T23:59:00.000999Z"; }),
    "both-fell-back": newDuel("both fell back", "PLAIN", 2, ["FALLBACK", "FALLBACK"]), "void-by-silence-of-nobody": ends(newDuel("nobody silent", "COMMITTED", 0, ["COMMITTED", undefined]), "VOID", "GRACE_PERIOD"),
  },
  dice: {
    "one-die": set(base, (x) => { x.rolls[3].dice[1] = x.rolls[3].dice[1] % 6 + 1; }), "of-the-next-ply": set(base, (x) => { x.rolls[2].dice = clone(x.rolls[3].dice); }), "another-order": set(base, (x) => { const roll = x.rolls.find(({ dice }) => dice[0] !== dice[1]); roll.dice = [roll.dice[1], roll.dice[0], roll.dice[2]]; }),
    "of-swapped-seats": set(base, (x) => { x.rolls.forEach((roll) => { roll.dice = d.rollOf(x.serverSeed, x.black.clientSeed, x.white.clientSeed, roll.ply); }); }),
    "last-ply-of-many": set(() => newDuel("long", "COMMITTED", 300), (x) => { x.rolls[299].dice[2] = x.rolls[299].dice[2] % 6 + 1; }),
  },
};

const without1 = (key) => set(base, (x) => { delete x[key]; });
const unusable = {
  "state-playing": set(base, (x) => { x.state = "PLAYING"; }), "mode-lower-case": set(base, (x) => { x.mode = "committed"; }), "another-scheme": set(base, (x) => { x.scheme = "duel-v2"; }), "server-seed-missing": without1("serverSeed"),
  "server-seed-upper-case": set(base, (x) => { x.serverSeed = x.serverSeed.toUpperCase(); }), "commitment-short": set(base, (x) => { x.commitment = x.commitment.slice(1); }), "rolls-missing": without1("rolls"),
  "key-unknown": set(base, (x) => { x.comment = "x"; }), "key-unknown-in-a-seat": set(base, (x) => { x.white.name = "x"; }), "key-in-another-case": set(base, (x) => { x.endtime = x.endTime; delete x.endTime; }),
  "source-unknown": set(base, (x) => { x.white.source = "HOUSE"; }), "source-null": set(base, (x) => { x.white.source = null; }), "client-seed-short": set(plain, (x) => { x.white.clientSeed = "x".repeat(15); }), "client-seed-long": set(plain, (x) => { x.white.clientSeed = "x".repeat(257); }),
  "client-seed-with-a-space": set(plain, (x) => { x.white.clientSeed = "x ".repeat(16); }), "client-seed-not-ascii": set(plain, (x) => { x.white.clientSeed = "\u00e9".repeat(16); }), "die-seven": set(base, (x) => { x.rolls[0].dice[0] = 7; }), "die-zero": set(base, (x) => { x.rolls[0].dice[0] = 0; }),
  "two-dice": set(base, (x) => { x.rolls[0].dice.pop(); }), "four-dice": set(base, (x) => { x.rolls[0].dice.push(1); }), "ply-text": set(base, (x) => { x.rolls[0].ply = "0"; }), "ply-too-large": set(base, (x) => { x.rolls[5].ply = 10000; }), "seeded-a-number": set(base, (x) => { x.white.seeded = 1; }),
  "forfeit-unknown": set(base, (x) => { x.forfeitedBy = ["green"]; }), "end-reason-unknown": set(base, (x) => { x.endReason = "BOREDOM"; }), "grace-zero": set(base, (x) => { x.graceSeconds = 0; }), "time-with-offset": set(base, (x) => { x.endTime = "2026-02-01T00:30:00+01:00"; }), "last-ply-text": set(base, (x) => { x.lastPly = "5"; }), "last-ply-too-large": set(base, (x) => { x.lastPly = 10000; }), "event-zero": set(base, (x) => { x.eventNumber = 0; }),
};

function write(folder) {
  fs.rmSync(folder, { recursive: true, force: true });
  fs.mkdirSync(folder, { recursive: true });
  const index = [];
  const put = (file, content, verdict, check, more = {}) => { fs.writeFileSync(path.join(folder, file), content); index.push({ file, verdict, check, ...more }); };
  const again = (file, verdict, check, more) => index.push({ file, verdict, check, ...more });
  for (const [name, duel] of Object.entries(good)) put(`good-${name}.json`, JSON.stringify(duel) + "\n", "CONSISTENT", "");
  for (const [check, documents] of Object.entries(faults)) for (const [name, duel] of Object.entries(documents)) put(`${check}-${name}.json`, JSON.stringify(duel) + "\n", "FAILED", check);
  for (const [name, duel] of Object.entries(unusable)) put(`format-${name}.json`, JSON.stringify(duel) + "\n", "UNUSABLE", "format");
  const line = JSON.stringify(base());
  put("good-keys-reversed.json", JSON.stringify(Object.fromEntries(Object.entries(base()).reverse()), null, 2), "CONSISTENT", "");
  put("format-key-twice.json", line.replace('"mode":', '"mode":"PLAIN","mode":'), "UNUSABLE", "format");
  put("format-trailing-text.json", line + "x", "UNUSABLE", "format");
  put("format-truncated.json", line.slice(0, -20), "UNUSABLE", "format");
  again("good-committed.json", "VERIFIED", "", { commitment: base().commitment });
  again("good-fell-back-black.json", "VERIFIED", "", { commitment: fell().commitment });
  again("good-committed.json", "FAILED", "commitment", { commitment: plain().commitment });
  again("good-committed.json", "FAILED", "commitment", { commitment: base().serverSeed });
  again("good-committed.json", "UNUSABLE", "format", { lastNonce: 5 });
  const cut = set(base, (x) => { x.rolls.splice(4, 2); x.lastPly = 3; x.eventNumber -= 2; }); // nothing in it shows what is missing
  put("good-cut-off.json", JSON.stringify(cut) + "\n", "CONSISTENT", "");
  put("good-without-last-ply.json", JSON.stringify(without1("lastPly")) + "\n", "CONSISTENT", "");
  for (const lastPly of [0, 3]) again("good-cut-off.json", "VERIFIED", "", { commitment: cut.commitment, lastPly });
  for (const lastPly of [4, 5, 9999]) again("good-cut-off.json", "FAILED", "order", { commitment: cut.commitment, lastPly });
  again("good-committed.json", "VERIFIED", "", { commitment: base().commitment, lastPly: 5 });
  again("good-no-rolls.json", "FAILED", "order", { lastPly: 0 });
  fs.writeFileSync(path.join(folder, "index.json"), "[\n" + index.map((one) => JSON.stringify(one)).join(",\n") + "\n]\n");
}

write(process.argv[2]);
