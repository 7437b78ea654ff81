-- KEYS pair; ARGV the pair's id.
-- -> {'OK', pair} | NOTFOUND
local p = read(KEYS[1])
if not p then return {'NOTFOUND'} end
local h = read(tag .. ':u:' .. p.u)
if not h then return broken('pair without a player') end
return {'OK', show(read_pair(ARGV[1], h))}
