-- KEYS a bucket of rounds, skipped rounds; ARGV first number.
-- -> {'OK', rounds, runs of skipped rounds that end at or above the first}
return {'OK', call('HGETALL', KEYS[1]), call('ZRANGEBYSCORE', KEYS[2], ARGV[1], '+inf', 'LIMIT', '0', '200')}
