-- KEYS duel; ARGV its id, operator or '', player or ''.
-- -> {'OK', id, duel} | NONE
return step(ARGV[1], ARGV[2], ARGV[3], function() return 'OK' end)
