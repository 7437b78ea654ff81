-- KEYS outbox; ARGV operator, the pair's id, nonce.
-- -> {'OK', player, record, entry of a:, why it is a dead letter, how often it was claimed,
--    end of its lease in ms or ''} | NOTFOUND | LATER when it is not sorted yet
local operator, id, nonce = ARGV[1], ARGV[2], tonumber(ARGV[3])
local name = call('HGET', pair_key(id), 'u')
if not is_of(name, operator) then return {'NOTFOUND'} end
local record = call('HGET', bucket('r', id, nonce), int(nonce % 128))
if not record or state(record) == OPEN then return {'NOTFOUND'} end
local entry = entry_of(operator, name, id, nonce)
if not entry then return {'NOTFOUND'} end
if entry == LATER then return {LATER} end
local why, attempt, ending = '', 0, ''
local head = math.floor(entry:byte(6) / 16)
if head == DEAD then
  local sequence = int(read5(entry, 1))
  local letter = call('ZRANGEBYSCORE', tag .. ':d:' .. operator, sequence, sequence)[1]
  why = letter and letter:match(':(.*)$') or ''
elseif head == PENDING then
  local kept = call('HMGET', tag .. ':k:' .. name, 'h', 'n', 'E')
  local held, leased = kept[1] or '', tonumber(kept[2] or '0')
  for at = 1, #held, 6 do
    if held:sub(at, at + 4) == entry:sub(1, 5) then
      attempt = held:byte(at + 5)
      ending = at <= leased * 6 and kept[3] or ''
    end
  end
end
return {'OK', name, record, entry, why, attempt, ending}
