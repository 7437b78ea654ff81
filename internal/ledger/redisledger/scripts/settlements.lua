-- KEYS outbox; ARGV sequence after which to begin, count.
-- -> {'OK', newest sequence, slots}
local after, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local last = units(call('GET', KEYS[1]) or '0')
if not last then return broken('outbox') end
local stop = math.min(last, after + count)
return {'OK', int(last), after < stop and read_slots(KEYS[1], after, stop) or ''}
