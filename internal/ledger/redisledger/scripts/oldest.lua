-- KEYS outbox; ARGV operator, most settlements to look at.
-- -> {'OK', ms since the oldest settlement ended that is neither acknowledged nor a
--    dead letter; '' when there is none} | MORE when it was not found yet
local operator, count = ARGV[1], tonumber(ARGV[2])
local outbox, state = KEYS[1], tag .. ':q:' .. operator
local kept, last = call('HMGET', state, 'c', 'w'), units(call('GET', outbox) or '0')
local sorted, done = units(kept[1] or '0'), units(kept[2] or '0')
if not last or not sorted or not done then return broken('outbox') end

-- waits reports whether a wallet has still to say what became of a settlement.
local function waits(slot)
  local pair = pair_of(slot:sub(1, 10))
  local entry = find_entry(operator, pair.name, pair.id, nonce_of(slot))
  return entry and math.floor(entry:byte(6) / 16) == PENDING
end

local at, stop = done, math.min(sorted, done + count)
local slots = read_slots(outbox, at, stop)
while at < stop and not waits(slots:sub((at - done) * 16 + 1, (at - done) * 16 + 14)) do at = at + 1 end
if at > done then call('HSET', state, 'w', int(at)) end
if at == last then return {'OK', ''} end
if at == stop and stop < sorted then return {'MORE'} end
local slot = slot_at(outbox, at + 1)
local nonce = nonce_of(slot)
local record = call('HGET', bucket('r', pair_of(slot:sub(1, 10)).id, nonce), int(nonce % 128))
if not record then return broken('settlement of no round') end
return {'OK', int(math.max(0, now() - EPOCH - read5(record, 7)))}
