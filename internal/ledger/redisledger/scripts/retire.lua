-- KEYS player; ARGV the pair's id, player's name, detail.
-- -> {'OK', pair} | NOPAIR | OPEN pair nonce
local id, name, detail = unpack(ARGV)
local h = read(KEYS[1])
local p = h and read_pair(id, h)
if not p or p.u ~= name then return {'NOPAIR'} end
if p.o then return {'OPEN', id, p.o:match('%d+')} end
if p.e then return {'OK', show(p)} end
if not units(p.n) then return broken('pair without a nonce') end

p.d = detail
call('HSET', pair_key(id), 'd', detail)
end_pair(p, 'S', now())
call('HDEL', KEYS[1], 'n')
return {'OK', show(p)}
