-- KEYS chain, its sealed links; ARGV 'read' | 'links'
--   | 'create' sealed links, terminal, length, after, kind of salt, named, network, salt
--   | 'salt' salt, signature.
-- The links are written first: a chain that is there has them.
-- -> {'OK', terminal, length, after, kind, named, network, salt, signature, made} | {'OK', sealed links} | NONE | SALT
local names = {'terminal', 'length', 'after', 'kind', 'named', 'network', 'salt', 'signature', 'made'}
local what = ARGV[1]
local there = call('EXISTS', KEYS[1]) == 1

if what == 'create' and not there then
  call('SET', KEYS[2], ARGV[2])
  local fields = {'made', int(now())}
  for i = 1, 7 do
    fields[#fields + 1] = names[i]
    fields[#fields + 1] = ARGV[i + 2]
  end
  call('HSET', KEYS[1], unpack(fields))
elseif not there then
  return {'NONE'}
elseif what == 'links' then
  return {'OK', call('GET', KEYS[2]) or ''}
elseif what == 'salt' then
  local kept = call('HMGET', KEYS[1], 'kind', 'salt')
  if kept[1] == 'BEACON' or (kept[2] or '') ~= '' and kept[2] ~= ARGV[2] then return {'SALT'} end
  if (kept[2] or '') == '' then call('HSET', KEYS[1], 'salt', ARGV[2], 'signature', ARGV[3]) end
end

local kept = call('HMGET', KEYS[1], unpack(names))
local answer = {'OK'}
for i = 1, #names do answer[i + 1] = kept[i] or '' end
return answer
