-- KEYS state; ARGV epoch, owner, life, number, signature.
-- -> {'OK', state, life, newest event, now} | FENCED | REPLACED | STEP
local epoch, owner, seen, number, signature = unpack(ARGV)
if fenced(epoch, owner) then return {'FENCED'} end
if fence() ~= seen then return {'REPLACED'} end
local kept = call('HMGET', KEYS[1], 'n', 'p')
if kept[1] ~= number or kept[2] == '5' then return {'STEP'} end
call('HSETNX', KEYS[1], 'w', signature)
return answer_state()
