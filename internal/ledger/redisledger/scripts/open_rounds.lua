-- KEYS open rounds of a partition; ARGV first and last, counted from 0.
-- -> {'OK', rounds and the times when they were created, oldest first}
return {'OK', call('ZRANGE', KEYS[1], ARGV[1], ARGV[2], 'WITHSCORES')}
