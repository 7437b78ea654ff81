-- KEYS outbox; ARGV operator, the pair's id, nonce.
-- -> {'OK', player, record, entry of a:} | NOTFOUND | LATER when it is not sorted yet
local operator, id, nonce = ARGV[1], ARGV[2], tonumber(ARGV[3])
local name = call('HGET', pair_key(id), 'u')
if not is_of(name, operator) then return {'NOTFOUND'} end
local record = call('HGET', bucket('r', id, nonce), int(nonce % 128))
if not record or state(record) == OPEN then return {'NOTFOUND'} end
local entry = call('HGET', bucket('a', id, nonce), int(nonce % 128))
if not entry then
  local at, last = units(call('HGET', tag .. ':q:' .. operator, 'c') or '0'), units(call('GET', KEYS[1]) or '0')
  if not at or not last then return broken('outbox') end
  if at < last then return {'LATER'} end
  entry = find_entry(operator, name, id, nonce)
  if not entry then return {'NOTFOUND'} end
end
return {'OK', name, record, entry}
