-- KEYS pair; ARGV the pair's id, nonce.
-- -> a round | NOTFOUND
local id, nonce = ARGV[1], tonumber(ARGV[2])
local name = call('HGET', KEYS[1], 'u')
if not name then return {'NOTFOUND'} end
local record, picks, chips = read_round(id, nonce)
if not record then return {'NOTFOUND'} end
local h = read(tag .. ':u:' .. name)
if not h then return broken('pair without a player') end
return answer(nonce, record, picks, chips, show(h), read_pair(id, h, name))
