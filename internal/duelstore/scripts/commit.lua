-- KEYS duel; ARGV its id, operator, player, seat, hash.
-- -> {'OK' | SEAT | MODE | HASHSET | HASHLATE | OVER, id, duel} | NONE
local id, operator, player, seat, hash = unpack(ARGV)
return step(id, operator, player, function(r, ms, own)
  if seat ~= own then return 'SEAT' end
  if r.m == 'p' then return 'MODE' end
  if r['h' .. seat] then return r['h' .. seat] == hash and 'OK' or 'HASHSET' end
  if r.e then return r.y == 'G' and 'HASHLATE' or 'OVER' end
  r['h' .. seat] = hash
  act(r, ms)
  if r.hw and r.hb then r.d = int(ms + r.g) end
  return 'OK'
end)
