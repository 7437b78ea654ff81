-- KEYS outbox; ARGV operator, the pair's id, nonce.
-- -> {'OK', player, record, entry of a:} | NOTFOUND | LATER when it is not sorted yet
local operator, id, nonce = ARGV[1], ARGV[2], tonumber(ARGV[3])
local name = call('HGET', pair_key(id), 'u')
if not is_of(name, operator) then return {'NOTFOUND'} end
local record = call('HGET', bucket('r', id, nonce), int(nonce % 128))
if not record or state(record) == OPEN then return {'NOTFOUND'} end
local entry = entry_of(operator, name, id, nonce)
if not entry then return {'NOTFOUND'} end
if entry == LATER then return {LATER} end
return {'OK', name, record, entry}
