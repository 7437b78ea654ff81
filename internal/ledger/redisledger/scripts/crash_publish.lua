-- KEYS events; ARGV epoch, owner, events.
-- -> {'OK', number of the newest} | FENCED
if fenced(ARGV[1], ARGV[2]) then return {'FENCED'} end
if not fence() then return broken('no master_replid') end
local events = {}
for i = 3, #ARGV do events[i - 2] = {'d', ARGV[i]} end
return {'OK', announce(events)}
