-- KEYS chain; ARGV nothing to read it, or what it is to be, if there is none:
-- terminal, length, sealed end, kind of salt, salt.
-- -> {'OK', terminal, length, sealed end, kind of salt, salt, when it was made} | NONE
local names = {'terminal', 'length', 'end', 'kind', 'salt', 'made'}
if #ARGV > 0 and call('EXISTS', KEYS[1]) == 0 then
  for i, v in ipairs(ARGV) do call('HSET', KEYS[1], names[i], v) end
  call('HSET', KEYS[1], 'made', int(now()))
end
local kept = call('HMGET', KEYS[1], unpack(names))
if not kept[1] then return {'NONE'} end
local answer = {'OK'}
for i = 1, #names do answer[i + 1] = kept[i] or '' end
return answer
