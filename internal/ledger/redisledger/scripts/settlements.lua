-- KEYS outbox; ARGV sequence after which to begin, count.
-- -> {'OK', newest sequence, settlements, players}
local after, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local last = units(call('GET', KEYS[1]) or '0')
if not last then return broken('outbox') end
local stop = math.min(last, after + count)
local slots = after < stop and read_slots(KEYS[1], after, stop) or ''
for at = 1, #slots, 16 do
  local sequence = after + (at + 15) / 16
  if not add_item(sequence, slots:sub(at, at + 15), 0, '') then return broken('settlement ' .. int(sequence)) end
end
return {'OK', int(last), packed(), names}
