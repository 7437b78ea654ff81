-- KEYS outbox; ARGV operator, the pair's id, nonce, slot.
-- -> {'OK', settlement, players} | NOTFOUND | LATER when it is not sorted yet
local operator, id, nonce, slot = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4]
if not is_of(call('HGET', pair_key(id), 'u'), operator) then return {'NOTFOUND'} end
local record = call('HGET', bucket('r', id, nonce), int(nonce % 128))
if not record or state(record) == OPEN then return {'NOTFOUND'} end
local entry = call('HGET', bucket('a', id, nonce), int(nonce % 128))
if not entry then
  local at, last = units(call('HGET', tag .. ':q:' .. operator, 'c') or '0'), units(call('GET', KEYS[1]) or '0')
  if not at or not last then return broken('outbox') end
  return {at < last and 'LATER' or 'NOTFOUND'}
end
add_item(read5(entry, 2), slot, 0, ack_of(entry))
return {'OK', packed(), names}
