-- KEYS log; ARGV sequence below which to begin, 0 for the newest, count.
-- -> {'OK', sequence of the first of them, entries, oldest first}
local before, count = tonumber(ARGV[1]), tonumber(ARGV[2])
local length = call('LLEN', KEYS[1])
if before == 0 or before > length then before = length + 1 end
local first = math.max(before - count, 1)
if first >= before then return {'OK', '0', {}} end
return {'OK', int(first), call('LRANGE', KEYS[1], int(first - 1), int(before - 2))}
