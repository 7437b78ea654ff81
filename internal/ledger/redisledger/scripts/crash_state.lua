-- KEYS state.
-- -> {'OK', state, life, newest event, now}
return answer_state()
