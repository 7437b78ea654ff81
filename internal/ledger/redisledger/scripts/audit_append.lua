-- KEYS log; ARGV entry.
-- -> {'OK', sequence, ms}
local ms = int(now())
return {'OK', int(call('RPUSH', KEYS[1], ms .. ' ' .. ARGV[1])), ms}
