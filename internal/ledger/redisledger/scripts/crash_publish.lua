-- KEYS events; ARGV epoch, owner, events.
-- -> {'OK', number of the newest} | FENCED
if fenced(ARGV[1], ARGV[2]) then return {'FENCED'} end
local number = call('GET', tag .. ':i') or '0'
for i = 3, #ARGV do
  number = int(call('INCR', tag .. ':i'))
  call('XADD', KEYS[1], 'MAXLEN', '~', '1000', number .. '-0', 'd', ARGV[i])
end
return {'OK', number}
