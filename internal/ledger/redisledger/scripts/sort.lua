-- KEYS outbox; ARGV operator, count.
-- -> {'OK', sequence up to which settlements are sorted, the newest}
local at, last = sort_slots(ARGV[1], tonumber(ARGV[2]))
if not at then return broken(last) end
return {'OK', int(at), int(last)}
