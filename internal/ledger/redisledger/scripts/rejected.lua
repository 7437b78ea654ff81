-- KEYS dead letters; ARGV operator, sequence after which to begin, count.
-- -> {'OK', settlements, players, reasons}
local outbox, reasons = tag .. ':o:' .. ARGV[1], {}
for _, member in ipairs(call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])) do
  local sequence, why = member:match('^(%d+):(.*)$')
  sequence = tonumber(sequence)
  if not sequence or not add_item(sequence, read_slots(outbox, sequence - 1, sequence), 0, '') then return broken('dead letter') end
  reasons[#reasons + 1] = why
end
return {'OK', packed(), names, reasons}
