-- KEYS duel; ARGV its id, operator, player, seat, client seed, the hash by which
-- it is committed to, '1' when it is 64 lower-case hex digits.
-- -> {'OK' | SEAT | SEEDSET | SEEDLATE | OVER | HASHES | FORM | MISMATCH, id, duel} | NONE
local id, operator, player, seat, seed, hash, hex = unpack(ARGV)
return step(id, operator, player, function(r, ms, own)
  if seat ~= own then return 'SEAT' end
  if r['s' .. seat] then return r['s' .. seat] == seed and 'OK' or 'SEEDSET' end
  if r.z then return 'SEEDLATE' end
  if r.e then return r.y == 'G' and 'SEEDLATE' or 'OVER' end
  if r.m == 'c' then
    if not (r.hw and r.hb) then return 'HASHES' end
    if hex ~= '1' then return 'FORM' end
    if r['h' .. seat] ~= hash then return 'MISMATCH' end
  end
  r['s' .. seat] = seed
  act(r, ms)
  if r.sw and r.sb then fix(r) end
  return 'OK'
end)
