-- KEYS a bucket of rounds, the bucket of their chips.
-- -> {'OK', rounds, chips}
return {'OK', call('HGETALL', KEYS[1]), call('HGETALL', KEYS[2])}
