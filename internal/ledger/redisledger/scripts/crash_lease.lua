-- KEYS lease; ARGV 'look' | 'take' epoch beats owner address | 'beat' epoch owner elapsed number | 'leave' epoch owner.
-- -> {'OK', lease, life} | HELD | FENCED
local what, epoch = ARGV[1], ARGV[2]
if what == 'take' then
  local kept = call('HMGET', KEYS[1], 'e', 'c')
  if (kept[1] or '0') ~= epoch or (kept[2] or '0') ~= ARGV[3] then return {'HELD'} end
  call('HSET', KEYS[1], 'e', int(tonumber(epoch) + 1), 'c', int(tonumber(ARGV[3]) + 1), 'o', ARGV[4], 'a', ARGV[5])
elseif what ~= 'look' then
  if fenced(epoch, ARGV[3]) then return {'FENCED'} end
  call('HINCRBY', KEYS[1], 'c', 1)
  if what == 'beat' then call('HSET', KEYS[1], 'g', ARGV[4], 'r', ARGV[5]) else call('HSET', KEYS[1], 'o', '') end
end
return {'OK', show(read(KEYS[1]) or {}), fence() or ''}
