-- KEYS player.
-- -> {'OK', player} | NOTFOUND
local h = read(KEYS[1])
if not h then return {'NOTFOUND'} end
return {'OK', show(h)}
