"""Runs many questions in one process for verify_test.go: JSON questions on standard input, JSON answers on standard output."""
import contextlib
import io
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python"))
import verify as v  # noqa: E402


def run(args):
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        status = v.main(list(args))
    return {"status": status, "output": output.getvalue()}


def words(signature, count):
    stream = v.Stream(signature)
    return [stream.word32() for _ in range(count)]


class Given:
    """A stream of given words, which counts how many were read."""

    def __init__(self, given):
        self.given, self.read = given, 0

    def word32(self):
        self.read += 1
        return self.given[self.read - 1]


def uniform(words, n):
    stream = Given(words)
    return [v.uniform(stream, n), stream.read]


ASK = {
    "run": run,
    "sha3": lambda text: v.commitment_of(text),
    "words": words,
    "signature": lambda serverSeed, clientSeed, nonce: v.signature_of(serverSeed, clientSeed, nonce),
    "mines": lambda signature, mineCount: v.mines_board(v.Stream(signature), mineCount),
    "limbo": lambda v: limbo(int(v)),
    "uniform": uniform,
    "multiplier": lambda mineCount, picks: str(v.mines_multiplier_e4(mineCount, picks)),
}


def limbo(word):
    return v.limbo_outcome_e2(word)


questions = json.load(sys.stdin)
json.dump([ASK[question.pop("ask")](**question) for question in questions], sys.stdout)
