-- KEYS duel; ARGV its id, operator, ply. A ply that was rolled is answered
-- always, a new one only in its turn.
-- -> {'OK' | OVER | SEEDS | ORDER, id, duel} | NONE
local ply = tonumber(ARGV[3])
return step(ARGV[1], ARGV[2], '', function(r, ms)
  local rolls = tonumber(r.n)
  if ply < rolls then return 'OK' end
  if r.e then return 'OVER' end
  if not r.z then return 'SEEDS' end
  if ply > rolls then return 'ORDER' end
  r.n = int(rolls + 1)
  act(r, ms)
  return 'OK'
end)
