-- KEYS player; ARGV the pair's id, player's name, nonce, picks.
-- -> a round | NOTFOUND | PICKS | INTERRUPTED
local id, name, nonce, picks = unpack(ARGV)
local h = read(KEYS[1])
local p = h and read_pair(id, h, name)
if not p or p.u ~= name then return {'NOTFOUND'} end
local record, stored, chips = read_round(id, tonumber(nonce))
if not record then return {'NOTFOUND'} end

if stored == picks then return answer(tonumber(nonce), record, stored, chips, show(h), p) end
if not is_mines(record) or state(record) ~= OPEN then return {'PICKS'} end
if stored ~= picks:sub(1, -2) then return {'PICKS'} end
local life = fence()
if not life then return broken('no master_replid') end
if h.m ~= id .. '-' .. nonce .. '-' .. life then return {'INTERRUPTED'} end

call('HSET', bucket('r', id, tonumber(nonce)), 'p' .. int(nonce % 128), picks)
return answer(tonumber(nonce), record, picks, chips, show(h), p)
