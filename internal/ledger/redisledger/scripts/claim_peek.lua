-- KEYS outbox; ARGV operator, claim.
-- -> {'OK', '1' when a claim would find something here, or this one has already}
local operator, claim = ARGV[1], ARGV[2]
if call('EXISTS', tag .. ':j:' .. operator .. ':' .. claim) == 1 then return {'OK', '1'} end
local at, last = call('HGET', tag .. ':q:' .. operator, 'c') or '0', call('GET', KEYS[1]) or '0'
if at ~= last then return {'OK', '1'} end
local due = call('ZRANGEBYSCORE', tag .. ':y:' .. operator, '-inf', int(now()), 'LIMIT', 0, 1)
return {'OK', #due > 0 and '1' or ''}
