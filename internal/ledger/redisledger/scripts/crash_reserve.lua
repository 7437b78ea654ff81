-- KEYS state; ARGV currency, worst case, limit, stake.
-- -> {'OK', number} | CLOSED | LIMIT
local currency, worst, limit, stake = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local kept = call('HMGET', KEYS[1], 'n', 'p')
if not kept[1] then return {'CLOSED'} end
local number = kept[2] == '1' and kept[1] or int(tonumber(kept[1]) + 1)
local x, w = tag .. ':x', number .. ':w' .. currency
local reserved = units(call('HGET', x, w) or '0')
if not reserved then return broken('reserved') end
if reserved + worst > limit then return {'LIMIT'} end
call('HSET', x, w, int(reserved + worst))
call('HINCRBY', x, number .. ':s' .. currency, stake)
call('HINCRBY', x, number .. ':n', 1)
return {'OK', number}
