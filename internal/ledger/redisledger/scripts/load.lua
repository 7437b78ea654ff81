-- KEYS pair; ARGV the pair's id, nonce.
-- -> a round | NOTFOUND | BOOK
local id, nonce = ARGV[1], tonumber(ARGV[2])
local kept = call('HMGET', KEYS[1], 'u', 'g')
local name = kept[1]
if not name then return {'NOTFOUND'} end
if kept[2] then return {'BOOK'} end
local record, picks, chips = read_round(id, nonce)
if not record then return {'NOTFOUND'} end
local h = read(tag .. ':u:' .. name)
if not h then return broken('pair without a player') end
return answer(nonce, record, picks, chips, show(h), read_pair(id, h, name))
