-- KEYS duel; ARGV its id, operator.
-- -> {'OK', id, duel} | NONE
return step(ARGV[1], ARGV[2], '', function(r, ms)
  if not r.e then finish(r, r.z and 'E' or 'V', 'S', ms) end
  return 'OK'
end)
