-- KEYS claim at home; ARGV partitions where it leased players.
-- -> {'OK', those of the call that was done first}
local kept = call('HMGET', KEYS[1], 'e', 'p')
if not kept[1] or kept[2] then return {'OK', kept[2] or ARGV[1]} end
call('HSET', KEYS[1], 'p', ARGV[1])
if ARGV[1] == '' then call('PEXPIREAT', KEYS[1], kept[1]) end -- nothing to remember
return {'OK', ARGV[1]}
