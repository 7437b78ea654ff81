"""Runs many calls of crash.py in one process for crash_test.go: lists of arguments on standard input, what they print on
standard output."""
import contextlib
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import crash  # noqa: E402


def run(args):
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        status = crash.main(list(args))
    return {"status": status, "output": output.getvalue()}


json.dump([run(args) for args in json.load(sys.stdin)], sys.stdout)
