// Runs many calls of crash.js in one process for crash_test.go: lists of arguments on standard input, what they print on
// standard output.
"use strict";
const c = require("../js/crash.js");

function run(args) {
  let output = "";
  const log = console.log, error = console.error;
  console.log = (text) => { output += `${text}\n`; };
  console.error = () => {};
  try { return { status: c.main([...args]), output }; } finally { console.log = log; console.error = error; }
}

process.stdout.write(JSON.stringify(JSON.parse(require("fs").readFileSync(0, "utf8")).map(run)));
