-- KEYS state, reserved.
-- -> {'OK', number, reserved}
local kept = call('HMGET', KEYS[1], 'n', 'p')
return {'OK', kept[1] or '0', call('HGETALL', KEYS[2])}
