-- KEYS player; ARGV player's name, the pair's id to begin with or '', count.
-- -> {'OK', pairs, newest first} | NOTFOUND
local name, id, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local h = read(KEYS[1])
if not h then return {'NOTFOUND'} end
if id == '' then id = h.l end

local list = {}
while id and #list < count do
  local p = read_pair(id, h, name)
  if not p or p.u ~= name then return {'NOTFOUND'} end
  list[#list + 1] = show_pair(p)
  id = p.p
end
return {'OK', list}
