-- KEYS unsettled bets of a round.
-- -> {'OK', bets}
return {'OK', call('HGETALL', KEYS[1])}
