-- KEYS a bucket of rounds, skipped rounds, the bucket's signatures of beacons; ARGV first number.
-- -> {'OK', rounds, runs of skipped rounds that end at or above the first, signatures}
return {'OK', call('HGETALL', KEYS[1]), call('ZRANGEBYSCORE', KEYS[2], ARGV[1], '+inf', 'LIMIT', '0', '200'), call('HGETALL', KEYS[3])}
