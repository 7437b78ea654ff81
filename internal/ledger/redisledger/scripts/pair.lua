-- KEYS pair; ARGV the pair's id.
-- -> {'OK', pair} | NOTFOUND
local name = call('HGET', KEYS[1], 'u')
if not name then return {'NOTFOUND'} end
local h = read(tag .. ':u:' .. name)
if not h then return broken('pair without a player') end
local p = read_pair(ARGV[1], h, name)
if not p then return {'NOTFOUND'} end
return {'OK', show_pair(p)}
