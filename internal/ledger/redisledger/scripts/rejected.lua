-- KEYS dead letters; ARGV operator, sequence after which to begin, count.
-- -> {'OK', settlements as claim.lua returns them, reasons}
local outbox, items, reasons = tag .. ':o:' .. ARGV[1], {}, {}
for i, member in ipairs(call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[2], '+inf', 'LIMIT', 0, ARGV[3])) do
  local sequence, why = member:match('^(%d+):(.*)$')
  if not sequence then return broken('dead letter') end
  items[i] = number5(tonumber(sequence)) .. '\0' .. slot_at(outbox, tonumber(sequence))
  reasons[i] = why
end
return {'OK', table.concat(items), reasons}
