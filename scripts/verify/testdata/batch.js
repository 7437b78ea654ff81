// Runs many questions in one process for verify_test.go: JSON questions on standard input, JSON answers on standard output.
"use strict";
const v = require("../js/verify.js");

const ask = {
  // the command line: what it prints, and its exit status
  run({ args }) {
    let output = "";
    const log = console.log, error = console.error;
    console.log = (text) => { output += `${text}\n`; };
    console.error = () => {};
    try { return { status: v.main([...args]), output }; } finally { console.log = log; console.error = error; }
  },
  sha3: ({ text }) => v.commitmentOf(text),
  words({ signature, count }) {
    const stream = v.streamOf(signature);
    return Array.from({ length: count }, () => stream.word32());
  },
  signature: ({ serverSeed, clientSeed, nonce }) => v.signatureOf(serverSeed, clientSeed, nonce),
  mines: ({ signature, mineCount }) => v.minesBoard(v.streamOf(signature), mineCount),
  limbo: ({ v: word }) => v.limboOutcomeE2(BigInt(word)),
  // uniform on given words: the number, and how many words were read
  uniform({ words, n }) {
    let read = 0;
    return [v.uniform({ word32: () => words[read++] }, n), read];
  },
  multiplier: ({ mineCount, picks }) => String(v.minesMultiplierE4(mineCount, picks)),
};

const questions = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(questions.map((question) => ask[question.ask](question))));
