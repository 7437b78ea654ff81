-- KEYS outbox; ARGV sequence after which to begin, count.
-- -> {'OK', slots}
local after, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local last = units(call('GET', KEYS[1]) or '0')
if not last then return broken('outbox') end

local parts = {}
local stop = math.min(last, after + count)
while after < stop do
  local block = math.floor(after / 255)
  local upto = math.min(stop, (block + 1) * 255)
  parts[#parts + 1] = call('GETRANGE', KEYS[1] .. ':' .. int(block),
    int((after - block * 255) * 16), int((upto - block * 255) * 16 - 1))
  after = upto
end
return {'OK', table.concat(parts)}
