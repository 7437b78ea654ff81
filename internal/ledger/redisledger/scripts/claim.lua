-- KEYS outbox; ARGV operator, claim, most settlements, claims in vain, first delay in
-- ms, settlements to sort, end of the lease, time after which this call is too late,
-- both in ms.
-- -> what lease_players returns
return (lease_players(ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[7]), tonumber(ARGV[8]),
  tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])))
