-- KEYS player; ARGV the pair's id, player's name, detail.
-- -> {'OK', pair} | NOPAIR | OPEN pair nonce
local id, name, detail = unpack(ARGV)
local h = read(KEYS[1])
local p = h and read_pair(id, h, name)
if not p or p.u ~= name then return {'NOPAIR'} end
if p.o then return {'OPEN', id, p.o:match('%d+')} end
if not p.e then
  if not read_active(h, name) then return broken('active pair') end
  end_pair(p, 'S', now(), detail)
end
return {'OK', show_pair(p)}
