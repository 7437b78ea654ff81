-- KEYS unended duels; ARGV the store's life when last asked or '', offset, count.
-- -> {'OK', life, how many duels are unended, {id, ...}}: those for which
-- something is due; all of them when the store leads another life.
local life = fence()
if not life then return broken('no master_replid') end
local offset, count = tonumber(ARGV[2]), tonumber(ARGV[3])
local last = life == ARGV[1] and int(now()) or '+inf'
local ids = call('ZRANGEBYSCORE', OPEN, '-inf', last, 'LIMIT', offset, count)
return {'OK', life, int(call('ZCARD', OPEN)), ids}
