-- KEYS reserved; ARGV number, currency, worst case, stake.
-- -> {'OK'}
local number, currency, worst, stake = unpack(ARGV)
local w = number .. ':w' .. currency
if call('HEXISTS', KEYS[1], w) == 1 then
  call('HINCRBY', KEYS[1], w, '-' .. worst)
  call('HINCRBY', KEYS[1], number .. ':s' .. currency, '-' .. stake)
  call('HINCRBY', KEYS[1], number .. ':n', -1)
end
return {'OK'}
