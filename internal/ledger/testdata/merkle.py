# Computes the Merkle root of settlements as a wallet would, from their fields
# and RFC 6962 alone: reads a JSON list of lists of fields, prints 64 hex digits.
import hashlib
import json
import sys


def tree(leaves):
    if not leaves:
        return hashlib.sha256(b"").digest()
    if len(leaves) == 1:
        return hashlib.sha256(b"\x00" + leaves[0]).digest()
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return hashlib.sha256(b"\x01" + tree(leaves[:k]) + tree(leaves[k:])).digest()


print(tree([" ".join(fields).encode() for fields in json.load(sys.stdin)]).hex())
